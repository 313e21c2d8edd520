//! What a script may use up, so that no script hangs the page or fills its memory.

/// Bounds of one run. Each has its own message when it is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Instructions; a line takes about ten.
    pub steps: u64,
    /// Events of the allocator.
    pub events: usize,
    /// Bytes that `print` writes.
    pub output_bytes: usize,
    /// Items of one list, characters of one text, bits of one number.
    pub value_size: usize,
    /// Containers alive at once.
    pub values: usize,
    /// Calls inside one another; beyond it `RecursionError` is raised, as in CPython.
    pub recursion: usize,
    /// Bytes of the script.
    pub source_bytes: usize,
    /// Brackets open inside one another, and levels of indentation.
    pub nesting: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            steps: 20_000_000,
            events: 400_000,
            output_bytes: 1 << 20,
            value_size: 2_000_000,
            values: 1_000_000,
            // CPython's own default.
            recursion: 1000,
            source_bytes: 256 << 10,
            nesting: 60,
        }
    }
}
