//! Payloads of chosen frames of sources that lie in memory: looked at where they are.
use std::hint::black_box;

use super::gather::{Gathered, Selection, visit_frame};
use crate::source::SourceError;

/// Frames whose bytes are asked for before the first of them is looked at, so that they come all at the same time.
const TOGETHER: usize = 32;
/// Bytes that come from memory at a time.
const LINE: usize = 64;
/// Of longer frames, the processor itself asks for what follows.
const MOST: usize = 16 * LINE;

/// Calls `visit` with the ordinal and payload of every chosen frame, in order; frame i is in `contents[which[i]]`.
pub fn for_each_kept_payload(
    contents: &[&[u8]],
    which: &[i64],
    selection: Selection<'_>,
    mut visit: impl FnMut(usize, &[u8]) -> Result<(), SourceError>,
) -> Result<(), Gathered> {
    let mut joined = Vec::new();
    let frame = |ordinal: usize| {
        let start = selection.offsets[ordinal] as usize;
        let content = contents[which[ordinal] as usize].get(start..).unwrap_or_default();
        &content[..content.len().min(selection.lengths[ordinal] as usize)]
    };
    for ordinal in 0..which.len() {
        if ordinal % TOGETHER == 0 {
            (ordinal..which.len().min(ordinal + TOGETHER)).for_each(|ahead| touch(frame(ahead)));
        }
        let step = visit_frame(selection, ordinal, frame(ordinal), &mut joined, &mut visit);
        step.map_err(|error| Gathered { ordinal, error })?;
    }
    Ok(())
}

#[inline]
fn touch(frame: &[u8]) {
    let start = &frame[..frame.len().min(MOST)];
    let lines = start.iter().step_by(LINE).fold(0, |all, byte| all ^ byte);
    black_box(lines ^ start.last().unwrap_or(&0));
}

#[cfg(test)]
mod tests {
    use super::super::{FrameKind, Frames};
    use super::*;

    fn framed(kind: FrameKind, payloads: &[Vec<u8>]) -> (Vec<u8>, Vec<i64>, Vec<i64>) {
        let mut frames = Frames::new(kind, Vec::new());
        payloads.iter().for_each(|payload| frames.push(payload).unwrap());
        let Frames { data, lengths, .. } = frames;
        let offsets = (0..lengths.len()).map(|i| lengths[..i].iter().sum()).collect();
        (data, offsets, lengths)
    }

    #[test]
    fn frames_of_several_contents_in_any_order_give_their_payloads() {
        for &kind in FrameKind::ALL {
            let payloads: Vec<Vec<u8>> = (0..100usize).map(|size| vec![size as u8; 1 + size * 37]).collect();
            let (data, offsets, lengths) = framed(kind, &payloads);
            let order: Vec<usize> = (0..100).map(|i| (i * 37) % 100).collect();
            let which: Vec<i64> = order.iter().map(|i| (i % 2) as i64).collect();
            let offsets: Vec<_> = order.iter().map(|&i| offsets[i]).collect();
            let lengths: Vec<_> = order.iter().map(|&i| lengths[i]).collect();
            let selection = Selection { kind, offsets: &offsets, lengths: &lengths, verify: true };
            let mut found = Vec::new();
            for_each_kept_payload(&[&data, &data], &which, selection, |ordinal, payload| {
                assert_eq!(ordinal, found.len());
                found.push(payload.to_vec());
                Ok(())
            })
            .unwrap();
            assert_eq!(found, order.iter().map(|&i| payloads[i].clone()).collect::<Vec<_>>());
        }
    }

    #[test]
    fn frames_that_are_cut_or_damaged_are_told_by_their_ordinal() {
        let (mut data, offsets, lengths) = framed(FrameKind::TfRecord, &[vec![1; 50], vec![2; 60], vec![3; 70]]);
        let selection = Selection { kind: FrameKind::TfRecord, offsets: &offsets, lengths: &lengths, verify: true };
        let stopped = |data: &[u8]| {
            for_each_kept_payload(&[data], &[0, 0, 0], selection, |_, _| Ok(())).map_err(|stopped| stopped.ordinal)
        };
        assert_eq!(stopped(&data), Ok(()));
        assert_eq!(stopped(&data[..data.len() - 1]), Err(2));
        assert_eq!(stopped(&[]), Err(0));
        data[offsets[1] as usize + 20] ^= 1;
        assert_eq!(stopped(&data), Err(1));
    }
}
