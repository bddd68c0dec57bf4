//! Replays the committed inputs of a fuzz target. They are in a zip file without compression, written by
//! `tools/fuzz_seeds.py`.
use std::path::Path;

const ENTRY_MAGIC: &[u8] = b"PK\x03\x04";
/// Length of the fixed part of a zip entry's header, without the 4-byte signature at its start.
const HEADER_LEN: usize = 26;

/// Calls `check` with each input in a zip file. The output of a failed test ends with the number of the input.
pub fn replay(path: &Path, check: impl Fn(&[u8])) {
    let inputs = read_seeds(path);
    assert!(!inputs.is_empty());
    for (number, input) in inputs.iter().enumerate() {
        println!("input {number} of {}", path.display());
        check(input);
    }
}

/// Returns the inputs in a zip file.
fn read_seeds(path: &Path) -> Vec<Vec<u8>> {
    let data = std::fs::read(path).expect("a file with inputs");
    let (mut rest, mut inputs) = (&data[..], Vec::new());
    while let Some(entry) = rest.strip_prefix(ENTRY_MAGIC) {
        let [method, name_len, extra_len] = [4, 22, 24].map(|start| little_endian(&entry[start..start + 2]));
        assert!(method == 0, "the entries must be stored without compression");
        let start = HEADER_LEN + name_len + extra_len;
        let end = start + little_endian(&entry[14..18]);
        inputs.push(entry[start..end].to_vec());
        rest = &entry[end..];
    }
    inputs
}

fn little_endian(bytes: &[u8]) -> usize {
    bytes.iter().rev().fold(0, |number, &byte| number << 8 | usize::from(byte))
}
