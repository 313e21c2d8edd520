//! The numbers that a file gives to its texts, frames and stacks, and those that they have here.
//! They are the same unless frames were lost.

/// Runs of numbers: first number of the file, and ours one behind the other.
#[derive(Debug, Default)]
pub(super) struct NumberMap {
    runs: Vec<(u64, Vec<u32>)>,
}

impl NumberMap {
    /// Says what number `theirs` of the file is here.
    pub(super) fn insert(&mut self, theirs: u64, ours: u32) {
        match self.runs.last_mut() {
            Some((first, run)) if *first + run.len() as u64 == theirs => run.push(ours),
            _ => self.runs.push((theirs, vec![ours])),
        }
    }

    /// Our number, unless it was lost.
    #[inline]
    pub(super) fn get(&self, theirs: u64) -> Option<u32> {
        self.runs.iter().rev().find_map(|(first, run)| {
            let at = usize::try_from(theirs.checked_sub(*first)?).ok()?;
            run.get(at).copied()
        })
    }
}
