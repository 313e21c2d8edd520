//! Text to settings, as permissive and as strict as PyTorch is (§11.1): separators are stepped
//! over unseen, numbers are read by prefix, and an error leaves what was read before it in force.

use super::{
    Backend, LARGE_MIN, Settings, SettingsError, SettingsErrorKind as Kind, UNLIMITED,
    rounding::{ROUNDUP_SLOTS, slot_of},
};
use crate::units::MIB;

/// When a text is read: only at load time it may choose the backend.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Moment {
    Load,
    Running,
}

type Step<T> = Result<T, SettingsError>;

/// Reads `text` into `settings`: resets, generic options, then CUDA's own over the same tokens.
pub(super) fn parse(settings: &mut Settings, text: &str, moment: Moment) -> Step<()> {
    settings.max_split_bytes = UNLIMITED;
    settings.roundup_divisions = [0; ROUNDUP_SLOTS];
    settings.garbage_collection_threshold = 0.0;
    text.clone_into(&mut settings.text);

    let tokens = Tokens::of(text);
    read_large_segment(settings, &tokens)?;
    settings.max_non_split_rounding_bytes = settings.large_segment_bytes;
    read_pairs(&tokens, |key, at| {
        generic_option(settings, &tokens, key, at)
    })?;
    read_pairs(&tokens, |key, at| {
        cuda_option(settings, &tokens, key, at, moment)
    })
}

/// Calls `option(key, index of its value)` for each pair; it returns the index of the last token
/// of the value.
fn read_pairs(tokens: &Tokens, mut option: impl FnMut(&str, usize) -> Step<usize>) -> Step<()> {
    let mut at = 0;
    while let Some(key) = tokens.0.get(at) {
        // One token for the colon, and one for the comma, whatever they are.
        at = option(key, at + 2)? + 2;
    }
    Ok(())
}

/// The preliminary pass: this option decides about the limits of others, wherever it stands.
fn read_large_segment(settings: &mut Settings, tokens: &Tokens) -> Step<()> {
    for at in 0..tokens.0.len() {
        if tokens.0[at] == "large_segment_size_mb" {
            let mib = tokens.integer(at + 2)?;
            if mib <= LARGE_MIN / MIB {
                return Err(error(at + 2, Kind::LargeSegmentTooSmall));
            }
            settings.large_segment_bytes = bytes_of(mib);
        }
    }
    Ok(())
}

fn generic_option(s: &mut Settings, tokens: &Tokens, key: &str, at: usize) -> Step<usize> {
    let minimum = s.large_segment_bytes;
    match key {
        "max_split_size_mb" => {
            s.max_split_bytes = tokens.mib_from(at, "max_split_size_mb", minimum)?;
        }
        "max_non_split_rounding_mb" => {
            s.max_non_split_rounding_bytes =
                tokens.mib_from(at, "max_non_split_rounding_mb", minimum)?;
        }
        "garbage_collection_threshold" => {
            let threshold = tokens.real(at)?;
            if !(threshold > 0.0 && threshold < 1.0) {
                return Err(error(at, Kind::BadThreshold));
            }
            s.garbage_collection_threshold = threshold;
        }
        "roundup_power2_divisions" => {
            return read_divisions(&mut s.roundup_divisions, tokens, at);
        }
        "expandable_segments" => s.expandable_segments = tokens.boolean(at)?,
        "pinned_use_background_threads" => s.pinned_use_background_threads = tokens.boolean(at)?,
        "large_segment_size_mb" => return tokens.skip_value(at),
        _ if is_cuda_key(key) => return tokens.skip_value(at),
        _ => {
            let key = key.to_owned();
            return Err(error(at - 2, Kind::UnrecognizedKey { key }));
        }
    }
    Ok(at)
}

fn is_cuda_key(key: &str) -> bool {
    matches!(
        key,
        "backend"
            | "per_process_memory_fraction"
            | "release_lock_on_cudamalloc"
            | "release_lock_on_hipmalloc"
            | "graph_capture_record_stream_reuse"
            | "pinned_use_cuda_host_register"
            | "pinned_use_hip_host_register"
            | "pinned_num_register_threads"
            | "pinned_reserve_segment_size_mb"
    )
}

/// The second parser. The first one has refused unknown keys already.
fn cuda_option(
    s: &mut Settings,
    tokens: &Tokens,
    key: &str,
    at: usize,
    moment: Moment,
) -> Step<usize> {
    match key {
        "backend" => {
            let backend = match tokens.get(at)? {
                "native" => Backend::Native,
                "cudaMallocAsync" => Backend::CudaMallocAsync,
                _ => return Err(error(at, Kind::UnknownBackend)),
            };
            if moment == Moment::Running && backend != s.backend {
                return Err(error(at, Kind::BackendChanged));
            }
            s.backend = backend;
        }
        "per_process_memory_fraction" => {
            let fraction = tokens.real(at)?;
            if !(0.0..=1.0).contains(&fraction) {
                return Err(error(at, Kind::BadFraction));
            }
            s.per_process_memory_fraction = fraction;
        }
        "release_lock_on_cudamalloc" | "release_lock_on_hipmalloc" => {
            s.release_lock_on_cudamalloc = tokens.boolean(at)?;
        }
        "graph_capture_record_stream_reuse" => {
            s.graph_capture_record_stream_reuse = tokens.boolean(at)?;
        }
        "pinned_use_cuda_host_register" | "pinned_use_hip_host_register" => {
            s.pinned_use_cuda_host_register = tokens.boolean(at)?;
        }
        "pinned_num_register_threads" => s.pinned_num_register_threads = tokens.threads(at)?,
        "pinned_reserve_segment_size_mb" => match tokens.integer(at)? {
            0 => return Err(error(at, Kind::NoReserve)),
            mib => s.pinned_reserve_segment_bytes = bytes_of(mib),
        },
        _ => return tokens.skip_value(at),
    }
    Ok(at)
}

/// §2.2, both forms. Returns the index of the last token read.
fn read_divisions(table: &mut [u64; ROUNDUP_SLOTS], tokens: &Tokens, mut at: usize) -> Step<usize> {
    if tokens.get(at)? != "[" {
        let divisions = tokens.integer(at)?;
        if !divisions.is_power_of_two() {
            return Err(error(at, Kind::BadDivisions));
        }
        table.fill(divisions);
        return Ok(at);
    }
    let mut last = None;
    at += 1;
    while tokens.get(at)? != "]" {
        let divisions = tokens.integer(at + 2)?;
        if divisions != 0 && !divisions.is_power_of_two() {
            return Err(error(at + 2, Kind::BadListedDivisions));
        }
        if tokens.get(at)? == ">" {
            table[last.unwrap_or(0) + 1..].fill(divisions);
        } else {
            let interval = tokens.integer(at)?;
            if !interval.is_power_of_two() {
                return Err(error(at, Kind::BadInterval));
            }
            let slot = slot_of(interval.saturating_mul(MIB));
            if last.is_none() {
                table[..slot].fill(divisions);
            }
            table[slot] = divisions;
            last = Some(slot);
        }
        at += if tokens.get(at + 3)? == "]" { 3 } else { 4 };
    }
    Ok(at)
}

/// Sizes are given in MiB and clamped to what 64 bits hold.
fn bytes_of(mib: u64) -> u64 {
    mib.min(u64::MAX / MIB) * MIB
}

fn error(token: usize, kind: Kind) -> SettingsError {
    SettingsError { token, kind }
}

/// The text in pieces: `,`, `:`, `[`, `]` and what stands between them, without any white space.
struct Tokens(Vec<String>);

impl Tokens {
    fn of(text: &str) -> Self {
        let mut tokens = Vec::new();
        let mut word = String::new();
        for c in text.chars() {
            if matches!(c, ',' | ':' | '[' | ']') {
                if !word.is_empty() {
                    tokens.push(std::mem::take(&mut word));
                }
                tokens.push(c.to_string());
            } else if !matches!(c, ' ' | '\t' | '\n' | '\r' | '\x0b' | '\x0c') {
                word.push(c);
            }
        }
        if !word.is_empty() {
            tokens.push(word);
        }
        Self(tokens)
    }

    fn get(&self, at: usize) -> Step<&str> {
        match self.0.get(at) {
            Some(token) => Ok(token),
            None => Err(error(at, Kind::Ended)),
        }
    }

    /// Index of the last token of the value that starts at `at`.
    fn skip_value(&self, at: usize) -> Step<usize> {
        if self.get(at)? != "[" {
            return Ok(at);
        }
        let mut at = at + 1;
        while self.get(at)? != "]" {
            at += 1;
        }
        Ok(at)
    }

    fn boolean(&self, at: usize) -> Step<bool> {
        match self.get(at)? {
            "True" => Ok(true),
            "False" => Ok(false),
            other => {
                let value = other.to_owned();
                Err(error(at, Kind::NotABool { index: at, value }))
            }
        }
    }

    /// C's `stoull`: a sign, then digits; what follows is ignored, a minus wraps.
    fn integer(&self, at: usize) -> Step<u64> {
        let token = self.get(at)?;
        let (negative, digits) = match token.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, token.strip_prefix('+').unwrap_or(token)),
        };
        let end = digits
            .find(|c: char| !c.is_ascii_digit())
            .unwrap_or(digits.len());
        match digits[..end].parse::<u64>() {
            Ok(value) if negative => Ok(value.wrapping_neg()),
            Ok(value) => Ok(value),
            Err(_) => Err(error(at, Kind::NotAnInteger)),
        }
    }

    /// C's `stod` on decimals: the longest prefix that is a number.
    fn real(&self, at: usize) -> Step<f64> {
        let token = self.get(at)?;
        (1..=token.len())
            .rev()
            .filter(|end| token.is_char_boundary(*end))
            .find_map(|end| token[..end].parse().ok())
            .ok_or_else(|| error(at, Kind::NotAReal))
    }

    fn mib_from(&self, at: usize, option: &'static str, minimum: u64) -> Step<u64> {
        let mib = self.integer(at)?;
        let minimum_mib = minimum / MIB;
        if mib < minimum_mib {
            return Err(error(
                at,
                Kind::TooSmall {
                    option,
                    minimum_mib,
                },
            ));
        }
        Ok(bytes_of(mib))
    }

    fn threads(&self, at: usize) -> Step<u64> {
        let value = self.integer(at)?;
        if !value.is_power_of_two() {
            return Err(error(at, Kind::BadThreadCount { value }));
        }
        if value > 128 {
            return Err(error(at, Kind::TooManyThreads { value }));
        }
        Ok(value)
    }
}
