//! Short ways to drive an allocator in tests.

use shared::{
    allocator::{
        Allocator, BlockId, Decision, Driver, Request, SimulatedCard, Step, Stream, TraceEvent,
    },
    ids::DeviceIndex,
    model::Action,
    settings::Settings,
};

/// The device that all of it is about.
pub const DEVICE: DeviceIndex = DeviceIndex(0);
/// The first address of the simulated card.
pub const BASE: u64 = 0x7f00_0000_0000;
/// Bytes of a MiB.
pub const MIB: u64 = 1 << 20;

/// A simulated card of so many MiB.
#[must_use]
pub fn card(capacity_mib: u64) -> SimulatedCard {
    SimulatedCard::with_capacity(capacity_mib * MIB)
}

/// An allocator on a card of 80 GiB.
///
/// # Panics
/// When the settings are not valid.
#[must_use]
pub fn allocator(conf: &str) -> Allocator<SimulatedCard> {
    Allocator::new(Settings::parse(conf).expect("valid"), card(80 << 10), 1)
}

/// So many bytes on a stream.
#[must_use]
pub fn request(bytes: u64, stream: u64) -> Request {
    Request {
        device: DEVICE,
        bytes,
        stream: Stream(stream),
    }
}

/// A block on the default stream.
///
/// # Panics
/// When there is no memory.
pub fn malloc<D: Driver>(allocator: &mut Allocator<D>, bytes: u64) -> BlockId {
    let block = allocator.malloc(request(bytes, 0), &mut ());
    block.expect("there is memory")
}

/// What an operation does, as action, offset from the first address and bytes.
pub fn events(run: impl FnOnce(&mut Vec<TraceEvent>)) -> Vec<(Action, u64, u64)> {
    let mut events = Vec::new();
    run(&mut events);
    let short = |e: &TraceEvent| (e.action, e.address.wrapping_sub(BASE), e.size_bytes);
    events.iter().map(short).collect()
}

/// What an operation does and why.
pub fn steps(run: impl FnOnce(&mut Decision)) -> Vec<Step> {
    let mut decision = Decision::default();
    run(&mut decision);
    decision.steps
}

/// Whether one of the steps is as expected.
#[must_use]
pub fn has(steps: &[Step], expected: impl Fn(&Step) -> bool) -> bool {
    steps.iter().any(expected)
}
