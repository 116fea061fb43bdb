//! Redis Cluster's hash slots: CRC-16 (XMODEM) of the hash tag, modulo 16,384 (Redis Cluster specification).

use crc::{CRC_16_XMODEM, Crc};

/// How many slots there are.
pub(crate) const SLOTS: u16 = 16_384;

const XMODEM: Crc<u16> = Crc::<u16>::new(&CRC_16_XMODEM);

/// The slot of a key of ours. Its tag is what stands between the first `{` and the next `}`; ours are never empty.
pub(crate) fn slot(key: &str) -> u16 {
    let tag = key.split_once('{').and_then(|(_, rest)| rest.split_once('}')).map_or(key, |(tag, _)| tag);
    XMODEM.checksum(tag.as_bytes()) % SLOTS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_are_redis_s() {
        // As CLUSTER KEYSLOT answers.
        assert_eq!(slot("123456789"), 12_739);
        assert_eq!(slot("{user1000}.following"), slot("{user1000}.followers"));
    }
}
