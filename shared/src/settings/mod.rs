//! The settings of `PYTORCH_CUDA_ALLOC_CONF` and the rules that need nothing but them: rounding,
//! segment sizes and the split decision. The allocator and the replay of recordings both ask here,
//! so that each rule exists once. Start with [`Settings`].

mod error;
mod grammar;
mod rounding;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

use crate::{ids::PoolKind, units::MIB};

pub use error::{SettingsError, SettingsErrorKind};
pub use rounding::ROUNDUP_SLOTS;

/// Rounding quantum and smallest block, in bytes; also the smallest remainder worth splitting off
/// in the small pool (§1).
pub const MIN_BLOCK: u64 = 512;
/// Rounded sizes up to this go to the small pool, and the large pool splits only when *more* than
/// this remains, in bytes (§1).
pub const SMALL_MAX: u64 = MIB;
/// Size of a segment, and of an expandable page, of the small pool, in bytes (§1).
pub const SMALL_SEGMENT: u64 = 2 * MIB;
/// Rounded sizes from this on get a segment of their own size, in bytes (§1).
pub const LARGE_MIN: u64 = 10 * MIB;
/// Default size of a segment for sizes below [`LARGE_MIN`], and of an expandable page of the large
/// pool, in bytes (§1). See [`Settings::large_segment_bytes`] for the one in force.
pub const DEFAULT_LARGE_SEGMENT: u64 = 20 * MIB;
/// Segments for sizes from [`LARGE_MIN`] on are multiples of this, in bytes (§1).
pub const ROUND_LARGE: u64 = 2 * MIB;
/// The tensor path refuses requests from this size on before doing anything (§2.4).
pub const MAX_TENSOR_REQUEST: u64 = 1 << 60;
/// Value of [`Settings::max_split_bytes`] that stands for "no limit" (§1).
pub const UNLIMITED: u64 = u64::MAX;

/// Which allocator PyTorch runs, fixed when it is loaded (§11.2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Backend {
    /// The caching allocator that this crate reproduces.
    #[default]
    Native,
    /// The driver's own stream-ordered allocator: no blocks, no events (§10).
    CudaMallocAsync,
}

/// All options of §11.2, in bytes where they are sizes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// The text parsed last, whether or not all of it was accepted; snapshots show it.
    pub text: String,
    /// `backend`.
    pub backend: Backend,
    /// `max_split_size_mb`: blocks of at least this size are oversize; [`UNLIMITED`] by default.
    pub max_split_bytes: u64,
    /// `max_non_split_rounding_mb`: how much larger an oversize block may be than the request.
    pub max_non_split_rounding_bytes: u64,
    /// `large_segment_size_mb`: segments of the large pool below 10 MiB, and its expandable pages.
    pub large_segment_bytes: u64,
    /// `garbage_collection_threshold`: share of the memory limit, 0 when off.
    pub garbage_collection_threshold: f64,
    /// `roundup_power2_divisions`: divisions for requests below 2 MiB, 4 MiB, … and from 32 GiB on.
    pub roundup_divisions: [u64; ROUNDUP_SLOTS],
    /// `expandable_segments`.
    pub expandable_segments: bool,
    /// `per_process_memory_fraction`: read when the allocator of a device is made.
    pub per_process_memory_fraction: f64,
    /// `release_lock_on_cudamalloc`: no effect on decisions.
    pub release_lock_on_cudamalloc: bool,
    /// `graph_capture_record_stream_reuse` (§9.6).
    pub graph_capture_record_stream_reuse: bool,
    /// `pinned_use_cuda_host_register`: page-locked host memory only.
    pub pinned_use_cuda_host_register: bool,
    /// `pinned_num_register_threads`: page-locked host memory only.
    pub pinned_num_register_threads: u64,
    /// `pinned_reserve_segment_size_mb`, in bytes, 0 when off: page-locked host memory only.
    pub pinned_reserve_segment_bytes: u64,
    /// `pinned_use_background_threads`: page-locked host memory only.
    pub pinned_use_background_threads: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            text: String::new(),
            backend: Backend::Native,
            max_split_bytes: UNLIMITED,
            max_non_split_rounding_bytes: DEFAULT_LARGE_SEGMENT,
            large_segment_bytes: DEFAULT_LARGE_SEGMENT,
            garbage_collection_threshold: 0.0,
            roundup_divisions: [0; ROUNDUP_SLOTS],
            expandable_segments: false,
            per_process_memory_fraction: 1.0,
            release_lock_on_cudamalloc: false,
            graph_capture_record_stream_reuse: false,
            pinned_use_cuda_host_register: false,
            pinned_num_register_threads: 1,
            pinned_reserve_segment_bytes: 0,
            pinned_use_background_threads: false,
        }
    }
}

impl Settings {
    /// The settings of a process started with `text` in its environment (§11.1).
    ///
    /// # Errors
    /// What PyTorch would refuse, in its words.
    pub fn parse(text: &str) -> Result<Self, SettingsError> {
        let mut settings = Self::default();
        grammar::parse(&mut settings, text, grammar::Moment::Load)?;
        Ok(settings)
    }

    /// Changes the settings while running: four options fall back to their defaults when `text`
    /// does not name them, the others keep their values (§11.1).
    ///
    /// # Errors
    /// What PyTorch would refuse, in its words. What was reset and read before the error stays in
    /// force, as it does there.
    pub fn apply(&mut self, text: &str) -> Result<(), SettingsError> {
        grammar::parse(self, text, grammar::Moment::Running)
    }

    /// Bytes of the block that serves a request of `requested` bytes (§2.1).
    #[must_use]
    pub fn round(&self, requested: u64) -> u64 {
        rounding::round(&self.roundup_divisions, requested)
    }

    /// Bytes asked from the driver when nothing cached serves a rounded size (§1).
    #[must_use]
    pub fn segment_bytes(&self, rounded: u64) -> u64 {
        if rounded <= SMALL_MAX {
            SMALL_SEGMENT
        } else if rounded < LARGE_MIN {
            self.large_segment_bytes
        } else {
            rounding::ceil_to(rounded, ROUND_LARGE)
        }
    }

    /// Bytes of one page of an expandable segment (§8.1).
    #[must_use]
    pub fn page_bytes(&self, kind: PoolKind) -> u64 {
        match kind {
            PoolKind::Small => SMALL_SEGMENT,
            PoolKind::Large => self.large_segment_bytes,
        }
    }

    /// Which pool by size serves a rounded size (§3.4).
    #[must_use]
    pub fn pool_kind(rounded: u64) -> PoolKind {
        if rounded <= SMALL_MAX {
            PoolKind::Small
        } else {
            PoolKind::Large
        }
    }

    /// Whether a block that is `remainder` bytes larger than `rounded` is split (§5.1(b) and (c)).
    /// `expandable_active`: expandable segments are on and the pool allows them (§4.1(d)).
    #[must_use]
    pub fn splits(
        &self,
        kind: PoolKind,
        rounded: u64,
        remainder: u64,
        expandable_active: bool,
    ) -> bool {
        if kind == PoolKind::Small || expandable_active {
            remainder >= MIN_BLOCK
        } else {
            rounded < self.max_split_bytes && remainder > SMALL_MAX
        }
    }

    /// Whether a block of `size` bytes counts as oversize.
    #[must_use]
    pub fn is_oversize(&self, size: u64) -> bool {
        size >= self.max_split_bytes
    }

    /// `max_split_size` as snapshots and statistics show it: signed, −1 for no limit (§13.4).
    #[must_use]
    pub fn max_split_signed(&self) -> i64 {
        self.max_split_bytes.cast_signed()
    }
}
