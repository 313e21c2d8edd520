# What a step did.
step-asked = asked **{ $exact }** ({ $size }, { $rounding })
step-nothing-to-round = nothing to round
step-rounded = rounded to { $rounded }
step-took-exact = took the **{ $hole }** block in the { $place } (best fit), an exact fit.
step-took-split = took the **{ $hole }** block in the { $place } (best fit) and split it: **{ $given }** handed out, { $rest } stay cached.
step-took-whole = took the **{ $hole }** block in the { $place } (best fit), whole: the { $slack } left over are not split off.
step-took-whole-rule = took the **{ $hole }** block in the { $place } (best fit), whole: the { $slack } left over are too few to split off (1 MiB rule).
step-new-split = no cached block fits, so a new **{ $hole }** segment from the driver in the { $place }, split: **{ $given }** handed out, { $rest } stay cached.
step-new-whole = no cached block fits, so a new **{ $hole }** segment from the driver in the { $place }, handed out whole.
step-freed-at-once = gave back **{ $given }** ({ $asked } had been asked); no stream still uses it, so the free completes at once.
step-freed-waits = gave back **{ $given }** ({ $asked } had been asked), but another stream may still use it: pending for { $events } events.
step-freed-never = gave back **{ $given }** ({ $asked } had been asked); it stays pending until the end of the record.
step-completed = **{ $given }** went back to the { $place }
step-merged-both = , merging with the free blocks before ({ $before }) and behind ({ $after })
step-merged-before = , merging with the free block before ({ $before })
step-merged-after = , merging with the free block behind ({ $after })
step-not-merged = , with no free neighbour to merge with
step-whole-segment = ; the whole segment is free now, so empty_cache() could return it
step-segment-allocated = the driver gave a new segment of **{ $size }** for the { $place }.
step-segment-freed = a segment of **{ $size }** in the { $place } went back to the driver
step-mapped = **{ $size }** of pages were mapped into the expandable segment of the { $place }.
step-unmapped = **{ $size }** of pages of the { $place } were unmapped and went back to the driver
flush-burst = : { $reason }, { $nth } of { $of }, { $burst } together.
flush-single = : { $reason }.
flush-empty-cache = empty_cache()
flush-retry = the driver had refused a request, so the cache was emptied to try again
flush-garbage-collection = garbage collection before a new segment
flush-oversize = oversize blocks are released before a new one
flush-pool-dropped = its private pool was dropped
step-oom-limit = **out of memory**: { $rounded } were wanted; { $held } are held, and { $segment } more would pass the limit of { $limit }. The largest cached block that could have served is { $largest }.
step-oom = **out of memory**: { $rounded } were wanted, the driver was asked for { $segment } and had { $free } free; the largest cached block that could have served is { $largest }.
step-snapshot = a snapshot was taken here; nothing changes.
step-annotation = a note of the program: { $note }
step-unknown = an action that this version does not know; nothing changes.
step-unmatched = this event does not fit the state, so nothing changes; see the warnings.

# Details of a block, a segment or an event.
details-block = Block
details-event = Event
details-cached = Cached block
details-empty = Nothing is selected.
details-close = Back to the step
badge-allocated = just allocated
badge-freed = just freed
badge-returned = just returned to its pool
badge-selected = selected
row-asked = asked
row-given = given
row-address = address
row-place = pool, stream
row-lives = lives
row-lasts = lasts
row-segment = segment
row-state = state
row-size = size
row-time = time
row-change = allocated
row-change-reserved = reserved
row-notes = notes
given-exact = nothing wasted
given-rounding = rounding { $size }
given-slack = unsplit slack { $size }
given-inferred = inferred
lives-events = { $count ->
    [one] 1 event
   *[other] { $count } events
}
lives-before = before the record
lives-still = still alive at the end
event-number = event { $at }
state-returnable = cached; empty_cache() would return its segment
state-pinned = cached, pinned by { $count ->
    [one] 1 live neighbour
   *[other] { $count } live neighbours
}
state-allocated = allocated
state-pending = pending free
segment-of = { $size } at { $address }, block { $position } of { $of }
stack-asked = Who asked
stack-freed = Who freed
stack-none = No stack was recorded.
stack-folded = { $count ->
    [one] 1 framework frame
   *[other] { $count } framework frames
}
