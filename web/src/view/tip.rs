//! What is under the pointer, in a few words.

use shared::model::BlockState;
use shared::query::{BlockView, SegmentView};

use crate::text::{self, format};

/// About a block of the map.
pub(crate) fn block_tip(segment: &SegmentView, block: &BlockView) -> String {
    let size = format::size(block.size_bytes);
    let what = match block.state {
        _ if block.count > 1 => text::tip_run(block.count, size),
        BlockState::Allocated => text::tip_life(format::exact_bytes(block.requested_bytes), size),
        BlockState::PendingFree => text::tip_pending(size),
        BlockState::Cached => text::tip_cached(size),
    };
    let address = format::address(segment.address + block.offset_bytes);
    let segment = text::tip_segment(format::size(segment.size_bytes));
    format!("{what}\n{address} · {segment}")
}
