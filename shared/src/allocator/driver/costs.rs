//! What driver calls cost, as measured on an NVIDIA H200 with driver 580.

use super::DriverCall;
use crate::units::MIB;

/// MiB, then nanoseconds of `cudaMalloc` and `cudaFree`.
const SEGMENT: [(u64, [f64; 2]); 7] = [
    (2, [55_588.0, 44_674.0]),
    (20, [52_667.0, 60_447.0]),
    (64, [84_615.0, 81_496.0]),
    (256, [91_461.0, 212_881.0]),
    (1024, [152_926.0, 690_844.0]),
    (4096, [682_418.0, 2_670_728.0]),
    (16_384, [2_542_982.0, 11_469_166.0]),
];

/// MiB of a page, then nanoseconds of create, map and set access, and of unmap and release.
const PAGE: [(u64, [f64; 2]); 2] = [
    (2, [17_139.5 + 2_120.5 + 26_361.5, 18_479.5 + 12_064.5]),
    (20, [16_730.0 + 1_945.5 + 25_288.5, 17_479.0 + 16_860.5]),
];

/// Nanoseconds that a call took on an H200; `None` where nobody measured.
#[must_use]
pub fn cost_on_h200_ns(call: DriverCall) -> Option<f64> {
    match call {
        DriverCall::Allocate { bytes } => Some(between(&SEGMENT, bytes, 0)),
        DriverCall::Free { bytes } => Some(between(&SEGMENT, bytes, 1)),
        DriverCall::Map { pages, page_bytes } => Some(pages as f64 * between(&PAGE, page_bytes, 0)),
        DriverCall::Unmap { pages, page_bytes } => {
            Some(pages as f64 * between(&PAGE, page_bytes, 1))
        }
        DriverCall::Reserve { .. } | DriverCall::Unreserve { .. } => None,
    }
}

/// A straight line between sizes, the smallest's figure below it, the last slope above the largest.
fn between(table: &[(u64, [f64; 2])], bytes: u64, column: usize) -> f64 {
    let mib = bytes as f64 / MIB as f64;
    let (first, last) = (table[0], table.len() - 1);
    if mib <= first.0 as f64 {
        return first.1[column];
    }
    let upper = table
        .iter()
        .position(|(size, _)| mib <= *size as f64)
        .unwrap_or(last);
    let (x0, y0) = (table[upper - 1].0 as f64, table[upper - 1].1[column]);
    let (x1, y1) = (table[upper].0 as f64, table[upper].1[column]);
    y0 + (y1 - y0) * (mib - x0) / (x1 - x0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_between_below_and_above_the_measured_sizes() {
        for (call, ns) in [
            (DriverCall::Allocate { bytes: 512 }, 55_588.0),
            (DriverCall::Allocate { bytes: 20 * MIB }, 52_667.0),
            (DriverCall::Allocate { bytes: 42 * MIB }, 68_641.0),
            (DriverCall::Free { bytes: 160 * MIB }, 147_188.5),
            (
                DriverCall::Free {
                    bytes: 28_672 * MIB,
                },
                20_267_604.0,
            ),
            (
                DriverCall::Map {
                    pages: 3,
                    page_bytes: 2 * MIB,
                },
                136_864.5,
            ),
            (
                DriverCall::Unmap {
                    pages: 1,
                    page_bytes: 20 * MIB,
                },
                34_339.5,
            ),
        ] {
            let got = cost_on_h200_ns(call).expect("measured");
            assert!((got - ns).abs() < 1e-6, "{call:?}: {got}, not {ns}");
        }
        assert_eq!(cost_on_h200_ns(DriverCall::Reserve { bytes: MIB }), None);
    }
}
