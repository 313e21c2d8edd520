//! The payload of a frame: numbered fields, each a number or a run of bytes, so that a reader can
//! pass over those that it does not know. A column is a run of bytes that holds numbers.

/// Writes fields.
#[derive(Debug, Default)]
pub(crate) struct FieldWriter {
    bytes: Vec<u8>,
}

impl FieldWriter {
    pub(crate) fn number(&mut self, field: u32, value: u64) {
        put_varint(&mut self.bytes, u64::from(field) << 1);
        put_varint(&mut self.bytes, value);
    }

    /// A number, where it is known.
    pub(crate) fn maybe(&mut self, field: u32, value: Option<u64>) {
        if let Some(value) = value {
            self.number(field, value);
        }
    }

    pub(crate) fn bytes(&mut self, field: u32, bytes: &[u8]) {
        put_varint(&mut self.bytes, u64::from(field) << 1 | 1);
        put_varint(&mut self.bytes, bytes.len() as u64);
        self.bytes.extend_from_slice(bytes);
    }

    /// Numbers one behind the other.
    pub(crate) fn column(&mut self, field: u32, values: impl IntoIterator<Item = u64>) {
        let mut column = Vec::new();
        for value in values {
            put_varint(&mut column, value);
        }
        self.bytes(field, &column);
    }

    /// Differences of numbers to the one before, the first to 0.
    pub(crate) fn differences(&mut self, field: u32, values: impl IntoIterator<Item = u64>) {
        let mut before = 0;
        self.column(
            field,
            values.into_iter().map(|value| {
                let difference = value.wrapping_sub(before) as i64;
                before = value;
                zigzag(difference)
            }),
        );
    }

    pub(crate) fn finish(self) -> Vec<u8> {
        self.bytes
    }
}

/// Seven bits a byte, the lowest first; the highest bit says that more follow.
pub(crate) fn put_varint(bytes: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
}

/// 0, −1, 1, −2 … as 0, 1, 2, 3 …
pub(crate) fn zigzag(value: i64) -> u64 {
    (value << 1 ^ value >> 63) as u64
}

pub(crate) fn unzigzag(value: u64) -> i64 {
    (value >> 1) as i64 ^ -((value & 1) as i64)
}

/// The value of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FieldValue<'a> {
    Number(u64),
    Bytes(&'a [u8]),
}

/// All fields of a payload, in order.
#[derive(Clone, Debug)]
pub(crate) struct Fields<'a> {
    fields: Vec<(u64, FieldValue<'a>)>,
}

impl<'a> Fields<'a> {
    /// `None` when the payload is damaged.
    pub(crate) fn parse(mut payload: &'a [u8]) -> Option<Self> {
        let mut fields = Vec::new();
        while !payload.is_empty() {
            let tag = take_varint(&mut payload)?;
            let value = take_varint(&mut payload)?;
            let value = if tag & 1 == 0 {
                FieldValue::Number(value)
            } else {
                let (bytes, rest) = payload.split_at_checked(usize::try_from(value).ok()?)?;
                payload = rest;
                FieldValue::Bytes(bytes)
            };
            fields.push((tag >> 1, value));
        }
        Some(Self { fields })
    }

    /// A number, where it is there.
    pub(crate) fn number(&self, field: u32) -> Option<u64> {
        self.all(field).find_map(|value| match value {
            FieldValue::Number(number) => Some(number),
            FieldValue::Bytes(_) => None,
        })
    }

    /// A run of bytes; empty where it is not there.
    pub(crate) fn bytes(&self, field: u32) -> &'a [u8] {
        self.items(field).next().unwrap_or_default()
    }

    /// A text, where it is there.
    pub(crate) fn text(&self, field: u32) -> Option<String> {
        let bytes = self.items(field).next()?;
        Some(String::from_utf8_lossy(bytes).into_owned())
    }

    /// All runs of bytes of a repeated field.
    pub(crate) fn items(&self, field: u32) -> impl Iterator<Item = &'a [u8]> + '_ {
        self.all(field).filter_map(|value| match value {
            FieldValue::Bytes(bytes) => Some(bytes),
            FieldValue::Number(_) => None,
        })
    }

    /// The numbers of a column.
    pub(crate) fn column(&self, field: u32) -> Numbers<'a> {
        Numbers(self.bytes(field))
    }

    /// The numbers of a column of differences.
    pub(crate) fn differences(&self, field: u32) -> Differences<'a> {
        Differences {
            numbers: self.column(field),
            before: 0,
        }
    }

    fn all(&self, field: u32) -> impl Iterator<Item = FieldValue<'a>> + '_ {
        let wanted = move |&&(number, _): &&(u64, FieldValue<'a>)| number == u64::from(field);
        self.fields.iter().filter(wanted).map(|&(_, value)| value)
    }
}

/// Reads numbers; `None` at the end and on damage.
#[derive(Clone, Debug)]
pub(crate) struct Numbers<'a>(&'a [u8]);

impl Iterator for Numbers<'_> {
    type Item = u64;

    #[inline]
    fn next(&mut self) -> Option<u64> {
        take_varint(&mut self.0)
    }
}

/// Reads numbers that were written as differences.
#[derive(Clone, Debug)]
pub(crate) struct Differences<'a> {
    numbers: Numbers<'a>,
    before: u64,
}

impl Iterator for Differences<'_> {
    type Item = u64;

    #[inline]
    fn next(&mut self) -> Option<u64> {
        let difference = unzigzag(self.numbers.next()?);
        self.before = self.before.wrapping_add(difference as u64);
        Some(self.before)
    }
}

#[inline]
fn take_varint(bytes: &mut &[u8]) -> Option<u64> {
    let (&first, rest) = bytes.split_first()?;
    *bytes = rest;
    if first < 0x80 {
        return Some(u64::from(first));
    }
    let mut value = u64::from(first & 0x7f);
    for shift in (7..64).step_by(7) {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        value |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Some(value);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_come_back_and_unknown_ones_are_passed_over() {
        let numbers = [0, 1, 127, 128, u64::MAX, 1 << 63, 300];
        let mut writer = FieldWriter::default();
        writer.number(900, 5);
        writer.number(1, u64::MAX);
        writer.bytes(901, b"of a newer version");
        writer.column(2, numbers);
        writer.differences(3, numbers);
        writer.bytes(4, "文".as_bytes());
        let payload = writer.finish();
        let fields = Fields::parse(&payload).expect("whole");
        assert_eq!(fields.number(1), Some(u64::MAX));
        assert_eq!(fields.number(2), None);
        assert_eq!(fields.column(2).collect::<Vec<_>>(), numbers);
        assert_eq!(fields.differences(3).collect::<Vec<_>>(), numbers);
        assert_eq!(fields.text(4).as_deref(), Some("文"));
        assert_eq!(fields.column(5).next(), None);
        for end in 1..payload.len() {
            // A cut payload is damaged, or has fewer fields.
            let cut = Fields::parse(&payload[..end]);
            assert!(cut.is_none_or(|cut| cut.fields.len() < fields.fields.len()));
        }
    }

    #[test]
    fn zigzag_keeps_small_numbers_small() {
        for (value, written) in [(0, 0), (-1, 1), (1, 2), (i64::MIN, u64::MAX)] {
            assert_eq!(zigzag(value), written);
            assert_eq!(unzigzag(written), value);
        }
    }
}
