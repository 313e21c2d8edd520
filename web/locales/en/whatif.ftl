# What if: other settings for the same requests.
whatif-open = What if?
whatif-hint = Run the same requests under other settings or on another card
whatif-title = What if the settings were different?
whatif-running = The requests are run again …
whatif-capacity = card of
whatif-drop = without empty_cache()
whatif-search = Find better settings
whatif-curves-label = Reserved memory as recorded and under the other settings, over the events
whatif-key-own = reserved, as recorded
whatif-key-other = reserved, first row of the table
whatif-key-allocated = allocated
whatif-key-top = up to { $size }
whatif-col-settings = settings
whatif-col-reserved = peak reserved
whatif-col-allocated = peak allocated
whatif-col-waste = waste at peak
whatif-col-calls = driver calls
whatif-col-time = their time
whatif-col-retries = retries
whatif-col-failed = failed
whatif-recorded = the recording itself
whatif-defaults = defaults
whatif-failed = { $count }, first at event { $event }
whatif-no-start = It cannot be run: the recording begins in a state that no allocator can be in.
whatif-saves = { $conf } saves this run: every request is served, with at most { $size } reserved.
whatif-delays = { $conf } fails as well, but only at event { $after } instead of { $before }.
whatif-lowers = { $conf } reserves at most { $after } instead of { $before }.
whatif-keeps = None of the settings tried is clearly better than the recorded ones.
whatif-fails = { $count ->
    [one] One request fails, at event { $event }.
   *[other] { $count } requests fail, the first at event { $event }.
}
whatif-saved = Every request is served, with at most { $after } reserved: this saves the run.
whatif-less = At most { $after } reserved, { $difference } less than under the recorded settings.
whatif-more = At most { $after } reserved, { $difference } more than under the recorded settings.
whatif-same = At most { $after } reserved, as under the recorded settings.
whatif-close = Under its own settings the replay holds exactly what was recorded, at every request.
whatif-apart = Under its own settings the replay departs from the recording at event { $event }: at most { $replayed } reserved, recorded { $recorded }.
whatif-bounded = The recording does not say how much memory there was: it got { $served } and was refused { $refused }. The lower bound is assumed.
whatif-unlimited = The recording names no card and nothing in it was refused, so nothing is refused here.
whatif-start = { $size } was there before the first request and stays as it was; other settings count from there on.
whatif-exact = Exact: what the allocator decides. Assumed: the program asks for the same, new segments get ascending addresses, driver calls cost what they do on an H200, and a failed request changes nothing that follows.
