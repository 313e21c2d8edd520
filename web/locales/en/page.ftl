# The first screen and the frame of the page.
page-title = vramscope
page-title-of = { $name } — vramscope
brand-hint = Start page

start-headline = See what PyTorch's CUDA caching allocator does with GPU memory, block by block.
start-promise = Drop a memory snapshot to replay every allocation, split, merge and empty_cache(). Everything stays in this browser: nothing is uploaded.
start-drop = Drop a snapshot here
start-kinds = .pickle, .vtrace, memory_viz .html, also as .gz or .zst — one file, several, or a folder
start-choose-files = Choose files
start-choose-folder = Choose a folder
start-gallery = Built-in recordings from real H200 cards
start-served = On this machine
start-howto = How do I record one?
start-wanted = This link shows a view of “{ $name }”. Drop or choose that file to come back to it.

tab-open-more = Open another recording
tab-close = Close { $name }
device-label = Device
device-option = cuda:{ $device } · { $events } events
language-switch = 中文
language-switch-hint = Show the page in Chinese
theme-hint-auto = Theme: as the system. Click for light.
theme-hint-light = Theme: light. Click for dark.
theme-hint-dark = Theme: dark. Click for as the system.
help-open = Keys and help
panel-pictures = Pictures
view-curves = Curves
view-map = Map
view-details = Details

opening-title = Opening { $name }
opening-read = { $done } read
opening-of = { $done } of { $total }
opening-index = Building the index …
failed-title = { $name } could not be opened
failed-back = Open something else
failed-fetch = { $url } could not be loaded: { $message }
failed-file = The file could not be read from the disk: { $message }
failed-worker = The engine stopped: { $message }. Closing other recordings frees memory.
empty-device = This recording holds no events and no segments. Call torch.cuda.memory._record_memory_history() before the part you want to see.

help-title = Keys
help-close = Close
key-step = One event forward or back
key-step-more = Ten events forward or back
key-ends = First and last event
key-play = Play and pause
key-speed = Slower and faster
key-jump = Previous and next of the chosen kind
key-zoom = Zoom the curves in and out
key-pan = Move the curves
key-fit = Show everything
key-escape = Drop the selection, close this
key-help = This help
help-pointer = In the curves: click or drag to choose the moment, wheel to zoom, Shift with the wheel to move. In the map: click to select a block, wheel to scroll, Ctrl with the wheel to magnify.

warnings-count = { $count ->
    [one] 1 warning
   *[other] { $count } warnings
}
warnings-title = What does not add up, or was met while reading
warnings-row = { $text } ({ $count } ×, first at { $place })
place-recording = the recording
place-byte = byte { $offset }
place-event = device { $device }, event { $event }
place-address = device { $device }, address { $address }
