//! Payloads of short frames that lie here and there: many are read before the first of them is looked at.
use std::ops::Range;

use super::gather::{Gathered, Selection, visit_frame};
use super::truncated_data;
use crate::source::{ReadAt, SourceError};

/// Frames that are read one after another: what the system needs for it stays in the processor's caches.
const TOGETHER: usize = 128;
/// Frames up to this length are read so; longer ones gain nothing.
const SHORT: i64 = 4 << 10;

/// Whether most of the frames are short and do not follow one another.
pub fn is_scattered(which: &[i64], selection: Selection<'_>) -> bool {
    let (offsets, lengths) = (selection.offsets, selection.lengths);
    let follows = |next: &usize| {
        which[*next] == which[next - 1] && offsets[*next] == offsets[next - 1].wrapping_add(lengths[next - 1])
    };
    lengths.iter().all(|&length| length <= SHORT) && 2 * (1..which.len()).filter(follows).count() < which.len()
}

/// Calls `visit` with the ordinal and payload of every chosen frame, in order; frame i is in `sources[which[i]]`.
pub fn for_each_scattered_payload<S: ReadAt>(
    sources: &[S],
    which: &[i64],
    selection: Selection<'_>,
    buffer: &mut Vec<u8>,
    mut visit: impl FnMut(usize, &[u8]) -> Result<(), SourceError>,
) -> Result<(), Gathered> {
    let mut joined = Vec::new();
    for start in (0..which.len()).step_by(TOGETHER) {
        let group = start..which.len().min(start + TOGETHER);
        let (count, outcome) = read(sources, which, selection, group.clone(), buffer);
        let mut rest = &buffer[..];
        for ordinal in group.start..group.start + count {
            let (frame, behind) = rest.split_at(selection.lengths[ordinal] as usize);
            let step = visit_frame(selection, ordinal, frame, &mut joined, &mut visit);
            step.map_err(|error| Gathered { ordinal, error })?;
            rest = behind;
        }
        outcome.map_err(|error| Gathered { ordinal: group.start + count, error })?;
    }
    Ok(())
}

/// Reads frames back to back; how many there are in whole, and what was wrong with the next one.
fn read<S: ReadAt>(
    sources: &[S],
    which: &[i64],
    selection: Selection<'_>,
    group: Range<usize>,
    buffer: &mut Vec<u8>,
) -> (usize, Result<(), SourceError>) {
    let total: i64 = selection.lengths[group.clone()].iter().sum();
    if buffer.len() < total as usize {
        buffer.resize(total as usize, 0);
    }
    let mut rest = &mut buffer[..];
    for (count, ordinal) in group.clone().enumerate() {
        let (offset, length) = (selection.offsets[ordinal] as u64, selection.lengths[ordinal] as usize);
        let (place, behind) = rest.split_at_mut(length);
        match sources[which[ordinal] as usize].read_at(offset, place) {
            Ok(read) if read == length => {}
            Ok(read) => return (count, Err(truncated_data(offset, length as u64, read as u64).into())),
            Err(error) => return (count, Err(error)),
        }
        rest = behind;
    }
    (group.len(), Ok(()))
}

#[cfg(test)]
mod tests {
    use super::super::{FrameKind, Frames};
    use super::*;

    #[test]
    fn frames_read_here_and_there_give_their_payloads_up_to_the_first_that_is_cut() {
        for &kind in FrameKind::ALL {
            let payloads: Vec<Vec<u8>> = (0..300usize).map(|size| vec![size as u8; 1 + size * 7]).collect();
            let mut frames = Frames::new(kind, Vec::new());
            payloads.iter().for_each(|payload| frames.push(payload).unwrap());
            let Frames { data, lengths, .. } = frames;
            let offsets: Vec<i64> = (0..lengths.len()).map(|i| lengths[..i].iter().sum()).collect();
            let order: Vec<usize> = (0..300).map(|i| (i * 77) % 300).collect();
            let which: Vec<i64> = order.iter().map(|i| (i % 3) as i64).collect();
            let offsets: Vec<_> = order.iter().map(|&i| offsets[i]).collect();
            let lengths: Vec<_> = order.iter().map(|&i| lengths[i]).collect();
            let selection = Selection { kind, offsets: &offsets, lengths: &lengths, verify: true };
            assert!(is_scattered(&which, selection));
            let cut = &data[..data.len() - 3];
            for (sources, whole) in [([&data[..]; 3], 300), ([cut; 3], order.iter().position(|&i| i == 299).unwrap())] {
                let mut found = Vec::new();
                let outcome =
                    for_each_scattered_payload(&sources, &which, selection, &mut Vec::new(), |ordinal, payload| {
                        assert_eq!((ordinal, payload), (found.len(), &payloads[order[ordinal]][..]));
                        found.push(());
                        Ok(())
                    });
                assert_eq!(found.len(), whole);
                assert_eq!(outcome.err().map(|stopped| stopped.ordinal), (whole < 300).then_some(whole));
            }
        }
    }

    #[test]
    fn neighbors_and_long_frames_are_not_scattered() {
        let told = |offsets: &[i64], lengths: &[i64]| {
            let selection = Selection { kind: FrameKind::TfRecord, offsets, lengths, verify: true };
            is_scattered(&vec![0; offsets.len()], selection)
        };
        assert!(!told(&[0, 100, 200, 300], &[100; 4]));
        assert!(told(&[0, 300, 100, 200], &[100; 4]));
        assert!(!told(&[0, 30_000, 10_000, 20_000], &[100, 100, 9000, 100]));
    }
}
