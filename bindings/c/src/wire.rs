//! The bytes that values travel in: a tag, then what the tag says. Integers are little-endian, and lengths 32 bits.

use crate::status::Status;
use labkit_ratelimit::Value;

pub(crate) const NULL: u8 = 0;
pub(crate) const FALSE: u8 = 1;
pub(crate) const TRUE: u8 = 2;
pub(crate) const INT: u8 = 3;
pub(crate) const UNSIGNED: u8 = 4;
pub(crate) const FLOAT: u8 = 5;
pub(crate) const BYTES: u8 = 6;
pub(crate) const BAD: u8 = 7;
pub(crate) const FAILED: u8 = 8;
pub(crate) const QUESTION_NUMBER: u8 = 1;
pub(crate) const QUESTION_MATCHES: u8 = 2;

/// Bytes that are read from front to back.
pub(crate) struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    pub(crate) const fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    pub(crate) const fn is_at_end(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn tag(&mut self) -> Result<u8, Status> {
        let [tag] = self.array()?;
        Ok(tag)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Status> {
        let (head, rest) = self.0.split_first_chunk().ok_or(Status::BadArgument)?;
        self.0 = rest;
        Ok(*head)
    }

    pub(crate) fn bytes(&mut self) -> Result<&'a [u8], Status> {
        let len = usize::try_from(u32::from_le_bytes(self.array()?)).map_err(|_| Status::BadArgument)?;
        let (head, rest) = self.0.split_at_checked(len).ok_or(Status::BadArgument)?;
        self.0 = rest;
        Ok(head)
    }

    pub(crate) fn text(&mut self) -> Result<&'a str, Status> {
        std::str::from_utf8(self.bytes()?).map_err(|_| Status::BadArgument)
    }

    /// One value of a property.
    #[inline]
    pub(crate) fn value(&mut self) -> Result<Value<'a>, Status> {
        let tag = self.tag()?;
        self.value_of(tag)
    }

    #[inline]
    pub(crate) fn value_of(&mut self, tag: u8) -> Result<Value<'a>, Status> {
        Ok(match tag {
            NULL => Value::Null,
            FALSE => Value::Bool(false),
            TRUE => Value::Bool(true),
            INT => Value::Int(i64::from_le_bytes(self.array()?)),
            UNSIGNED => Value::Unsigned(u64::from_le_bytes(self.array()?)),
            FLOAT => Value::Float(f64::from_bits(u64::from_le_bytes(self.array()?))),
            BYTES => Value::Bytes(self.bytes()?),
            BAD => Value::Bad(self.text()?),
            _ => return Err(Status::BadArgument),
        })
    }
}

/// Bytes that are written to a host's buffer, as far as it goes.
pub(crate) struct Writer<'b> {
    buffer: &'b mut [u8],
    at: usize,
}

impl<'b> Writer<'b> {
    pub(crate) const fn new(buffer: &'b mut [u8]) -> Self {
        Self { buffer, at: 0 }
    }

    pub(crate) fn push(&mut self, bytes: &[u8]) {
        if let Some(room) = self.buffer.get_mut(self.at..self.at + bytes.len()) {
            room.copy_from_slice(bytes);
        }
        self.at += bytes.len();
    }

    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        self.push(&u32::try_from(bytes.len()).unwrap_or(u32::MAX).to_le_bytes());
        self.push(bytes);
    }

    /// How much was written, or would have been.
    pub(crate) const fn len(&self) -> usize {
        self.at
    }

    pub(crate) const fn has_room(&self) -> bool {
        self.at <= self.buffer.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_cut_off_or_odd_is_no_value() {
        let good: [&[u8]; 5] =
            [&[NULL], &[TRUE], &[INT, 1, 0, 0, 0, 0, 0, 0, 0], &[BYTES, 2, 0, 0, 0, b'a', b'b'], &[BAD, 0, 0, 0, 0]];
        for bytes in good {
            assert!(Reader::new(bytes).value().is_ok(), "{bytes:?}");
            for len in 0..bytes.len() {
                assert_eq!(Reader::new(&bytes[..len]).value(), Err(Status::BadArgument), "{bytes:?}");
            }
        }
        for bytes in [&[9_u8][..], &[255], &[BYTES, 255, 255, 255, 255, 1], &[BAD, 1, 0, 0, 0, 0xff]] {
            assert_eq!(Reader::new(bytes).value(), Err(Status::BadArgument), "{bytes:?}");
        }
    }

    #[test]
    fn a_writer_counts_what_has_no_room() {
        let mut buffer = [0; 6];
        let mut writer = Writer::new(&mut buffer);
        writer.bytes(b"ab");
        assert!(writer.has_room());
        writer.bytes(b"cd");
        assert_eq!((writer.has_room(), writer.len()), (false, 12));
        assert_eq!(buffer, [2, 0, 0, 0, b'a', b'b']);
    }
}
