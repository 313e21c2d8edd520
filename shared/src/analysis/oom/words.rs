//! A text as words, without what stands around them in logs.

/// The words of a text: runs of ASCII letters, digits, `.` and `_`. Brackets, quotes, comment and
/// quotation marks at the start of lines and other scripts separate words; so does the prefix
/// `[rank3]:` of a wrapped line.
#[derive(Clone, Debug)]
pub(super) struct Words<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Words<'a> {
    pub(super) fn of(text: &'a str) -> Self {
        Self { text, at: 0 }
    }

    /// Offset in bytes behind the word returned last.
    pub(super) fn offset(&self) -> usize {
        self.at
    }

    /// The next word, launcher prefixes included.
    pub(super) fn next_raw(&mut self) -> Option<&'a str> {
        let rest = self.text.get(self.at..)?;
        let start = self.at + rest.find(is_word)?;
        let rest = self.text.get(start..)?;
        let length = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
        self.at = start + length;
        self.text.get(start..self.at)
    }

    /// What follows after so many words.
    pub(super) fn skip_words(mut self, count: usize) -> Self {
        for _ in 0..count {
            self.next();
        }
        self
    }

    /// Whether the next words are these, ignoring case.
    pub(super) fn starts_with(&self, expected: &[&str]) -> bool {
        let mut words = self.clone();
        expected.iter().all(|word| {
            words
                .next()
                .is_some_and(|found| found.eq_ignore_ascii_case(word))
        })
    }
}

impl<'a> Iterator for Words<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        loop {
            let word = self.next_raw()?.trim_end_matches('.');
            if !word.is_empty() && rank_of(word).is_none() {
                return Some(word);
            }
        }
    }
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '.' || c == '_'
}

/// The rank in the word that launchers put before a line: `rank3`, `default3`.
fn rank_of(word: &str) -> Option<u32> {
    let digits = word
        .strip_prefix("rank")
        .or_else(|| word.strip_prefix("default"))?;
    digits.parse().ok()
}

/// How far before a message the start of its line is looked for: prefixes are short.
const PREFIX_BYTES: usize = 256;

/// The rank named on the line, before this offset.
pub(super) fn rank_before(text: &str, offset: usize) -> Option<u32> {
    let from = text.floor_char_boundary(offset.saturating_sub(PREFIX_BYTES));
    let before = text.get(from..offset)?;
    let line = before.rsplit('\n').next()?;
    let mut words = Words::of(line);
    std::iter::from_fn(|| words.next_raw())
        .filter_map(rank_of)
        .last()
}

/// The last few words seen, newest last.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Recent<'a>([&'a str; 4]);

impl<'a> Recent<'a> {
    pub(super) fn push(&mut self, word: &'a str) {
        self.0.rotate_left(1);
        if let Some(newest) = self.0.last_mut() {
            *newest = word;
        }
    }

    /// Whether the last words are these, ignoring case.
    pub(super) fn ends_with(&self, expected: &[&str]) -> bool {
        let start = self.0.len().saturating_sub(expected.len());
        self.0.get(start..).is_some_and(|found| {
            found.len() == expected.len()
                && found
                    .iter()
                    .zip(expected)
                    .all(|(found, word)| found.eq_ignore_ascii_case(word))
        })
    }

    /// The word this many places back; 0 is the newest.
    pub(super) fn back(&self, places: usize) -> &'a str {
        self.0.iter().rev().nth(places).copied().unwrap_or("")
    }
}
