//! Rounding of requests, with both forms of `roundup_power2_divisions` (§2).

use super::MIN_BLOCK;

/// Intervals of the round-up table: below 2 MiB, then one per power of two, then from 32 GiB on.
pub const ROUNDUP_SLOTS: usize = 16;

/// Index of the interval that a request, or the lower bound of one, in bytes belongs to (§2.2).
pub(super) fn slot_of(bytes: u64) -> usize {
    let log2 = bytes.max(1).ilog2() as usize;
    log2.saturating_sub(20).min(ROUNDUP_SLOTS - 1)
}

/// Smallest multiple of `step` that is at least `bytes`; the largest there is where none fits.
pub(super) fn ceil_to(bytes: u64, step: u64) -> u64 {
    bytes
        .checked_next_multiple_of(step)
        .unwrap_or(u64::MAX - u64::MAX % step)
}

/// §2.1.
pub(super) fn round(divisions: &[u64; ROUNDUP_SLOTS], requested: u64) -> u64 {
    if requested < MIN_BLOCK {
        return MIN_BLOCK;
    }
    let divisions = divisions[slot_of(requested)];
    if divisions > 1 && requested > MIN_BLOCK.saturating_mul(divisions) {
        round_to_division(requested, divisions)
    } else {
        ceil_to(requested, MIN_BLOCK)
    }
}

/// §2.3: up to the next of `divisions` equal steps between two powers of two.
fn round_to_division(requested: u64, divisions: u64) -> u64 {
    if requested.is_power_of_two() {
        return requested;
    }
    let step = (1_u64 << requested.ilog2()) / divisions;
    ceil_to(requested, step)
}
