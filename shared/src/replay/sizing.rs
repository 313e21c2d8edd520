//! How large a block was, where no event and no snapshot says.

use crate::replay::forward::Walk;
use crate::replay::lives::SpanId;
use crate::settings::{MIN_BLOCK, Settings};

impl Walk<'_> {
    /// Bytes handed out for a request in `span`, where `hole` bytes are free (§5.1).
    pub(super) fn given(&self, span: Option<SpanId>, requested: u64, hole: u64) -> u64 {
        let rounded = self.settings.round(requested);
        let Some(remainder) = hole.checked_sub(rounded) else {
            // Settings that the recording does not name rounded it otherwise, or it overlaps.
            return hole.max(requested.next_multiple_of(MIN_BLOCK)).min(rounded);
        };
        if span.is_none() {
            return rounded;
        }
        let splits = self.settings.splits(
            Settings::pool_kind(rounded),
            rounded,
            remainder,
            self.settings.expandable_segments,
        );
        // An oversize request takes an oversize block whole, if it is not much larger (§4.3(d)).
        let too_large = self.settings.is_oversize(rounded)
            && remainder >= self.settings.max_non_split_rounding_bytes;
        if splits || too_large { rounded } else { hole }
    }

    /// Free bytes from `address` up to `next`, the next block, or to the end of the segment.
    pub(super) fn hole_at(&self, span: Option<SpanId>, address: u64, next: u64) -> u64 {
        let Some(span) = span.and_then(|span| self.out.spans.get(span.index())) else {
            return 0;
        };
        let mut end = span.end_address();
        if span.expandable && end < next {
            let mut last = span;
            for (_, id) in self.state.spans.range(end..) {
                match self.out.spans.get(id.index()) {
                    Some(span) if end < next && last.runs_on_into(span) => {
                        end = span.end_address();
                        last = span;
                    }
                    _ => break,
                }
            }
        }
        end.min(next).saturating_sub(address)
    }

    pub(super) fn is_span_start(&self, address: u64) -> bool {
        let Some(&id) = self.state.spans.get(&address) else {
            return false;
        };
        // Pages mapped behind others go on with the free block before them.
        self.out
            .spans
            .get(id.index())
            .is_some_and(|span| !span.expandable)
    }

    /// Whether a block may be larger than its request needs: in the large pool up to 1 MiB is not
    /// split off.
    pub(super) fn may_have_slack(&self, requested: u64) -> bool {
        let rounded = self.settings.round(requested);
        let kind = Settings::pool_kind(rounded);
        let expandable = self.settings.expandable_segments;
        !self.settings.splits(kind, rounded, MIN_BLOCK, expandable)
    }

    /// Whether two addresses lie in one segment, or in one run of mapped pages.
    pub(super) fn is_same_run(&self, low: u64, high: u64) -> bool {
        let mut spans = self.state.spans_from(&self.out.spans, low).peekable();
        while let Some(span) = spans.next() {
            if span.contains(high) {
                return true;
            }
            if !spans.peek().is_some_and(|after| span.runs_on_into(after)) {
                return false;
            }
        }
        false
    }
}
