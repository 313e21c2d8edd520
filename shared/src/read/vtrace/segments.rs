//! The final snapshot of a device.

use crate::ids::{DeviceIndex, PoolKind};
use crate::model::{Block, BlockState, Segment};
use crate::read::vtrace::decode::{Decoder, pairs};
use crate::read::vtrace::device;
use crate::vtrace::fields::{Differences, Fields, Numbers, unzigzag};
use crate::vtrace::segments as seg;

/// Device and part of a frame; part 0 begins a new snapshot.
pub(super) fn place(fields: &Fields<'_>) -> Option<(DeviceIndex, u64)> {
    Some((
        device(fields.number(seg::DEVICE))?,
        fields.number(seg::PART)?,
    ))
}

/// The columns of blocks.
struct Blocks<'a> {
    gaps: Numbers<'a>,
    sizes: Numbers<'a>,
    flags: std::slice::Iter<'a, u8>,
    requested: Numbers<'a>,
    stacks: Differences<'a>,
}

/// The segments of a frame.
pub(super) fn read(fields: &Fields<'_>, decoder: &mut Decoder) -> Option<Vec<Segment>> {
    let mut addresses = fields.differences(seg::ADDRESSES);
    let mut sizes = fields.column(seg::SIZES);
    let mut streams = fields.column(seg::STREAMS);
    let mut pools = pairs(fields.column(seg::POOL_IDS)).into_iter();
    let mut allocated = fields.column(seg::STATED_ALLOCATED);
    let mut active = fields.column(seg::STATED_ACTIVE);
    let mut stacks = fields.differences(seg::STACKS);
    let mut counts = fields.column(seg::BLOCK_COUNTS);
    let mut blocks = Blocks {
        gaps: fields.column(seg::BLOCK_GAPS),
        sizes: fields.column(seg::BLOCK_SIZES),
        flags: fields.bytes(seg::BLOCK_FLAGS).iter(),
        requested: fields.column(seg::BLOCK_REQUESTED),
        stacks: fields.differences(seg::BLOCK_STACKS),
    };
    let mut segments = Vec::new();
    for &flags in fields.bytes(seg::FLAGS) {
        let has = |flag: u8| flags & flag != 0;
        let address = addresses.next()?;
        segments.push(Segment {
            address,
            size_bytes: sizes.next()?,
            stream: decoder.stream(streams.next()?),
            kind: if has(seg::IS_LARGE) {
                PoolKind::Large
            } else {
                PoolKind::Small
            },
            pool: if has(seg::HAS_POOL) {
                Some(pools.next()?)
            } else {
                None
            },
            expandable: has(seg::IS_EXPANDABLE),
            stack: decoder.stack(stacks.next()?),
            stated_allocated_bytes: if has(seg::HAS_ALLOCATED) {
                Some(allocated.next()?)
            } else {
                None
            },
            stated_active_bytes: if has(seg::HAS_ACTIVE) {
                Some(active.next()?)
            } else {
                None
            },
            blocks: blocks.take(address, counts.next()?, decoder)?,
        });
    }
    Some(segments)
}

impl Blocks<'_> {
    fn take(&mut self, start: u64, count: u64, decoder: &Decoder) -> Option<Vec<Block>> {
        let mut expected = start;
        let mut blocks = Vec::new();
        for _ in 0..count {
            let &flags = self.flags.next()?;
            let gap = unzigzag(self.gaps.next()?);
            let address = expected.wrapping_add(gap as u64);
            let size_bytes = self.sizes.next()?;
            expected = address.wrapping_add(size_bytes);
            blocks.push(Block {
                address,
                size_bytes,
                requested_bytes: match flags & seg::HAS_REQUESTED {
                    0 => None,
                    _ => Some(self.requested.next()?),
                },
                state: match flags & seg::STATE {
                    0 => BlockState::Allocated,
                    1 => BlockState::PendingFree,
                    _ => BlockState::Cached,
                },
                stack: decoder.stack(self.stacks.next()?),
            });
        }
        Some(blocks)
    }
}
