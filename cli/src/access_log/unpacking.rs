//! Unpacking gzip as `gzip -d` does, as far as it is whole.

use super::lines::Damage;
use flate2::bufread::GzDecoder;
use std::io::{self, BufRead, ErrorKind, Read};

/// The text of all members, one behind the other: logs are often compressed day by day.
#[derive(Debug)]
pub(super) struct Unpacking<R> {
    /// None behind the last member, and behind damage.
    member: Option<GzDecoder<R>>,
    damage: Option<String>,
}

impl<R: BufRead> Unpacking<R> {
    pub(super) fn new(reader: R) -> Self {
        Self { member: Some(GzDecoder::new(reader)), damage: None }
    }
}

impl<R: BufRead> Read for Unpacking<R> {
    /// Damage is told again however often it is asked for.
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        while let Some(member) = &mut self.member {
            match member.read(buffer) {
                Ok(0) => {
                    let reader = self.member.take().map(GzDecoder::into_inner);
                    self.member = reader.map(next_member).transpose()?.flatten();
                }
                Err(error) if is_of_gzip(error.kind()) => {
                    self.member = None;
                    self.damage = Some(match error.kind() {
                        ErrorKind::UnexpectedEof => "the gzip file is cut off; what it lacks is not read".into(),
                        _ => format!("the gzip file is damaged; nothing is read from here on: {error}"),
                    });
                }
                done => return done,
            }
        }
        self.damage.clone().map_or(Ok(0), |damage| Err(io::Error::other(Damage(damage))))
    }
}

/// What the decoder fails with, other than what its reader does.
fn is_of_gzip(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::UnexpectedEof | ErrorKind::InvalidInput | ErrorKind::InvalidData)
}

/// The member behind the last one, if there is one. Zeros behind a member fill up a block, as of a tape.
fn next_member<R: BufRead>(mut reader: R) -> io::Result<Option<GzDecoder<R>>> {
    loop {
        let ahead = match reader.fill_buf() {
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            ahead => ahead?,
        };
        let zeros = ahead.iter().take_while(|byte| **byte == 0).count();
        let (is_over, is_found) = (ahead.is_empty(), zeros < ahead.len());
        reader.consume(zeros);
        if is_over || is_found {
            return Ok(is_found.then(|| GzDecoder::new(reader)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::lines::is_damage;
    use super::*;
    use flate2::Compression;
    use flate2::write::GzEncoder;
    use std::io::Write as _;

    fn packed(text: &[u8]) -> Vec<u8> {
        let mut packer = GzEncoder::new(Vec::new(), Compression::default());
        packer.write_all(text).expect("a member");
        packer.finish().expect("a member")
    }

    /// What is read, and whether damage follows.
    fn unpacked(packed: &[u8]) -> (Vec<u8>, bool) {
        let mut reader = Unpacking::new(packed);
        let mut text = Vec::new();
        let Err(error) = reader.read_to_end(&mut text) else { return (text, false) };
        assert!(is_damage(&error), "{error}");
        assert!(reader.read(&mut [0]).is_err_and(|error| is_damage(&error)), "it is told again");
        (text, true)
    }

    #[test]
    fn what_is_whole_is_read() {
        let (one, two) = (packed(b"one "), packed(b"two"));
        let zeros = [0; 1000].as_slice();
        for (file, text, damaged) in [
            ([one.as_slice(), &two].concat(), "one two", false),
            ([one.as_slice(), zeros].concat(), "one ", false),
            ([one.as_slice(), zeros, &two].concat(), "one two", false),
            ([one.as_slice(), b"junk and more of it"].concat(), "one ", true),
            ([one.as_slice(), &two[..two.len() - 1]].concat(), "one two", true),
            ([one.as_slice(), &two[..5]].concat(), "one ", true),
        ] {
            assert_eq!(unpacked(&file), (text.into(), damaged), "{file:?}");
        }
        let mut wrong = one;
        let at = wrong.len() - 8;
        wrong[at] ^= 1;
        assert_eq!(unpacked(&wrong), (b"one ".to_vec(), true));
    }
}
