//! How large a byte is in the memory map: one scale for all segments, chosen so that the fullest
//! moment of the recording fits. It stays while the recording plays, so that sizes can be compared
//! from step to step.

/// Space between two rows.
pub(crate) const ROW_GAP: f32 = 6.0;
/// Space between two segments of a row.
pub(crate) const SEGMENT_GAP: f32 = 5.0;
/// Height of the line above each group.
pub(crate) const HEADING: f32 = 22.0;
/// Size of every segment of a small pool (§3.4).
const SMALL_SEGMENT_BYTES: u64 = 2 << 20;
/// What exists is at least this wide.
pub(crate) const LEAST_WIDTH: f32 = 2.0;

/// The scale of a memory map.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct MapScale {
    pub(crate) px_per_byte: f64,
    /// Magnification by people, 1 for all of the map.
    pub(crate) zoom: f32,
    pub(crate) row_height: f32,
}

impl MapScale {
    /// Pixels to a byte in the small pool. Its segments are all of 2 MiB, which would be slivers
    /// beside large ones; the map says how much larger they are drawn. `group_bytes` is what the
    /// group holds.
    pub(crate) fn small_px_per_byte(&self, group_bytes: u64) -> f64 {
        let width: f32 = match group_bytes / SMALL_SEGMENT_BYTES {
            0..=48 => 36.0,
            49..=200 => 18.0,
            _ => 9.0,
        };
        self.px_per_byte
            .max(f64::from(width * self.zoom) / SMALL_SEGMENT_BYTES as f64)
    }

    /// The next smaller one, for a moment with more groups than expected.
    pub(crate) fn smaller(&self) -> MapScale {
        MapScale {
            px_per_byte: self.px_per_byte * 0.85,
            zoom: self.zoom,
            row_height: (self.row_height * 0.95).max(6.0),
        }
    }
}

/// What a recording holds at its fullest.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Fullest {
    pub(crate) reserved_bytes: u64,
    pub(crate) largest_segment_bytes: u64,
    pub(crate) segments: u32,
    /// Groups of pool and stream.
    pub(crate) groups: u32,
}

impl Fullest {
    /// The largest scale at which everything fits into `width` × `height`, or the smallest there
    /// is: then the map scrolls.
    pub(crate) fn fit(&self, width: f32, height: f32) -> MapScale {
        let tiers = [(20.0, 0.3), (12.0, 0.12), (7.0, 0.02)];
        let mut smallest = self.scale(width, 7.0, 0.02);
        for (least_height, least_share) in tiers {
            let mut candidates = Vec::new();
            let mut row_height = 40.0f32;
            while row_height >= least_height {
                let mut share = 1.0f32;
                while share >= least_share {
                    candidates.push((row_height, share));
                    share *= 0.92;
                }
                row_height -= 2.0;
            }
            // Long segments say more than high ones.
            let weight = |(height, share): &(f32, f32)| height.powf(0.8) * share;
            candidates.sort_by(|a, b| weight(b).total_cmp(&weight(a)));
            for (row_height, share) in candidates {
                let scale = self.scale(width, row_height, share);
                if self.height(scale, width) <= height {
                    return scale;
                }
                smallest = scale;
            }
        }
        smallest
    }

    /// The scale at which the largest segment takes this share of the width.
    fn scale(&self, width: f32, row_height: f32, share: f32) -> MapScale {
        let largest = self.largest_segment_bytes.max(1) as f64;
        MapScale {
            px_per_byte: f64::from(width * share) / largest,
            zoom: 1.0,
            row_height,
        }
    }

    /// About how high the map is at this scale.
    fn height(&self, scale: MapScale, width: f32) -> f32 {
        let bytes_px = self.reserved_bytes as f64 * scale.px_per_byte;
        let gaps_px = f64::from(self.segments) * f64::from(SEGMENT_GAP + LEAST_WIDTH / 2.0);
        // Some of each row stays empty, because segments are not broken.
        let rows = (bytes_px + gaps_px) / f64::from(width * 0.9);
        let pitch = scale.row_height + ROW_GAP;
        (rows as f32).ceil() * pitch + self.groups as f32 * (pitch / 2.0 + HEADING)
    }
}

#[cfg(test)]
mod tests {
    use shared::units::{GIB, MIB};

    use super::*;

    #[test]
    fn three_segments_get_room_and_three_thousand_fit() {
        let few = Fullest {
            reserved_bytes: 60 * MIB,
            largest_segment_bytes: 20 * MIB,
            segments: 3,
            groups: 1,
        };
        let scale = few.fit(1000.0, 400.0);
        assert!(scale.row_height >= 38.0, "{scale:?}");
        assert!(scale.px_per_byte * (20 * MIB) as f64 > 900.0, "{scale:?}");

        let many = Fullest {
            reserved_bytes: 60 * GIB,
            largest_segment_bytes: 2 * GIB,
            segments: 3000,
            groups: 2,
        };
        let scale = many.fit(1000.0, 400.0);
        assert!(many.height(scale, 1000.0) <= 400.0, "{scale:?}");
        assert!(scale.row_height >= 7.0, "{scale:?}");
    }
}
