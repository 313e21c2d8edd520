//! What PyTorch refuses in a settings text, in PyTorch's words.

use thiserror::Error;

/// A refused settings text.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{kind}")]
pub struct SettingsError {
    /// Where: the index of the token, with `,`, `:`, `[` and `]` each counting as one.
    pub token: usize,
    /// What is wrong there.
    pub kind: SettingsErrorKind,
}

/// What is wrong with a settings text (§11.1, §11.2); `Display` is PyTorch's message.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum SettingsErrorKind {
    /// No option has this name.
    #[error("Unrecognized key '{key}' in Accelerator allocator config.")]
    UnrecognizedKey {
        /// The name as written.
        key: String,
    },
    /// The text ends where a value or a `]` is needed.
    #[error("Index out of bounds in ConfigTokenizer")]
    Ended,
    /// A whole number was expected.
    #[error("stoull")]
    NotAnInteger,
    /// A real number was expected.
    #[error("stod")]
    NotAReal,
    /// Neither `True` nor `False`.
    #[error("Expected 'True' or 'False' at index {index} in ConfigTokenizer but got '{value}'")]
    NotABool {
        /// Index of the token.
        index: usize,
        /// What stands there.
        value: String,
    },
    /// A size option below its minimum.
    #[error("CachingAllocator option {option} too small, must be >= {minimum_mib}")]
    TooSmall {
        /// Name of the option.
        option: &'static str,
        /// Smallest value, in MiB.
        minimum_mib: u64,
    },
    /// `large_segment_size_mb` must exceed 10 MiB.
    #[error("CachingAllocator option large_segment_size_mb must be > 10 MB")]
    LargeSegmentTooSmall,
    /// The garbage collection threshold lies outside of its range.
    #[error("garbage_collect_threshold is invalid, set it in (0.0, 1.0)")]
    BadThreshold,
    /// The memory fraction lies outside of its range.
    #[error("per_process_memory_fraction is invalid, set it in [0.0, 1.0]")]
    BadFraction,
    /// The single form of `roundup_power2_divisions` takes powers of two, 0 not included.
    #[error("For roundups, the divisions has to be power of 2 ")]
    BadDivisions,
    /// The list form takes powers of two or 0.
    #[error("For roundups, the divisions has to be power of 2 or 0 to disable roundup ")]
    BadListedDivisions,
    /// The keys of the list form are powers of two.
    #[error("For roundups, the intervals have to be power of 2 ")]
    BadInterval,
    /// There are two backends.
    #[error("Unknown allocator backend, options are native and cudaMallocAsync")]
    UnknownBackend,
    /// The backend is chosen once, when PyTorch is loaded.
    #[error("Allocator backend parsed at runtime != allocator backend parsed at load time")]
    BackendChanged,
    /// `pinned_num_register_threads` takes powers of two.
    #[error("Number of register threads has to be power of 2, got {value}")]
    BadThreadCount {
        /// The value given.
        value: u64,
    },
    /// `pinned_num_register_threads` has a maximum.
    #[error("Number of register threads should be less than or equal to 128, got {value}")]
    TooManyThreads {
        /// The value given.
        value: u64,
    },
    /// `pinned_reserve_segment_size_mb` must be positive.
    #[error("Pinned reserve segment size has to be greater than 0")]
    NoReserve,
}
