# Curves, map, free lists, transport.
curves-over-events = Memory over events
curves-over-time = Memory over time
curves-axis-events = events
curves-axis-time = time
curves-axis-label = Axis
curves-label = Curves of allocated, cached and reserved memory. Arrow keys step, W and S zoom.
legend-allocated = allocated
legend-cached = cached
legend-pending = pending free
legend-reserved = reserved
legend-driver = from driver
legend-returned = returned
legend-empty-cache = empty_cache
legend-oom = out of memory
legend-returnable = cached, returnable
legend-pinned = cached, pinned
legend-waste = rounding, slack
legend-before = before the recording
legend-unmapped = unmapped
figure-allocated = allocated
figure-reserved = reserved
figure-cached = { $size } cached
figure-card = of { $size }

map-title = Memory map
map-label = Memory map: segments to scale with their blocks. Click selects a block.
map-counts = { $segments ->
    [one] 1 segment
   *[other] { $segments } segments
}, { $blocks ->
    [one] 1 block
   *[other] { $blocks } blocks
}
map-too-small = {" · "}{ $count } blocks too small to draw alone
map-flush = empty_cache() would return **{ $returns }**, { $pinned } stays pinned
map-large-pool = Large pool · stream { $stream }
map-small-pool = Small pool · stream { $stream }
map-private-large = Private pool { $pool } · large · stream { $stream }
map-private-small = Private pool { $pool } · small · stream { $stream }
map-group = { $segments ->
    [one] 1 segment · { $size }
   *[other] { $segments } segments · { $size }
}
map-magnified = {" · "}drawn { $times } times larger

free-title = Free lists
free-of = { $pool } · stream { $stream }, in search order
free-best-fit = best fit for { $size }: first block that is large enough
free-none-fits = none of these is large enough for { $size }
free-left-out = { $count ->
    [one] 1 more
   *[other] { $count } more
}
free-empty = No cached block here.

pool-large = large pool
pool-small = small pool
pool-unknown = pool
pool-private = private pool { $pool }
pool-private-large = private pool { $pool }, large
pool-private-small = private pool { $pool }, small
place-pool-stream = { $pool }, stream { $stream }

transport-first = First event
transport-back = One event back
transport-play = Play
transport-pause = Pause
transport-step = One event forward
transport-last = Last event
transport-previous = Previous one of this kind
transport-next = Next one of this kind
transport-jump = Jump to
transport-slider = Event
transport-speed = Speed
transport-at = event { $at } of { $of }
transport-none = no events
jump-segment = segment event
jump-empty-cache = empty_cache
jump-oom = out of memory
jump-mark = mark
jump-peak = peak
