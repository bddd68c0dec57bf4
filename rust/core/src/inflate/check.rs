//! The running checksum and length of one member, as its trailer will state them.
use super::Container;
use crate::checksum::crc32;
use miniz_oxide::mz_adler32_oxide;

/// Checksum (CRC-32 or Adler-32) and number of the bytes that a member has yielded so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Check {
    pub(super) container: Container,
    pub(super) value: u32,
    pub(super) num_bytes: u64,
}

impl Check {
    /// The check of a member that has yielded nothing yet.
    pub(super) fn new(container: Container) -> Self {
        let value = match container {
            Container::Gzip => 0,
            Container::Zlib => 1,
        };
        Self { container, value, num_bytes: 0 }
    }

    /// Takes in the next bytes of the member.
    pub(super) fn update(&mut self, data: &[u8]) {
        self.value = match self.container {
            Container::Gzip => crc32(self.value, data),
            Container::Zlib => mz_adler32_oxide(self.value, data),
        };
        self.num_bytes += data.len() as u64;
    }
}
