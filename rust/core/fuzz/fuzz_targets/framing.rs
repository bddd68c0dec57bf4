//! Framing of arbitrary bytes: nothing panics, all ways of reading agree, and rewritten frames read back.
#![no_main]
use libfuzzer_sys::fuzz_target;
use recordmill_core::framing::{
    FrameKind, Frames, Index, Limit, Payloads, ReadFailure, Scan, Selection, Window, compact, for_each_payload, gather, scan,
    verify,
};

fn selection(kind: FrameKind, found: &Scan, verify: bool) -> Selection<'_> {
    Selection { kind, offsets: &found.offsets, lengths: &found.lengths, verify, checksums: None }
}

/// Returns the payloads of a selection up to the first fault, and whether there was a fault.
fn visit(data: &Vec<u8>, selection: Selection<'_>) -> (Vec<Vec<u8>>, bool) {
    let mut payloads = Vec::new();
    let outcome = for_each_payload(&mut Window::new(data, Vec::new()), selection, |_, payload| {
        payloads.push(payload.to_vec());
        Ok(())
    });
    (payloads, outcome.is_err())
}

fn rows((payloads, outcome): (Payloads, Result<(), ReadFailure>)) -> (Vec<Vec<u8>>, bool) {
    let (buffer, _, splits) = payloads.into_parts();
    (splits.windows(2).map(|pair| buffer[pair[0] as usize..pair[1] as usize].to_vec()).collect(), outcome.is_err())
}

fn assert_readers_agree(kind: FrameKind, data: &Vec<u8>, found: &Scan, verify: bool) {
    let expected = visit(data, selection(kind, found, verify));
    let mut payloads = Payloads::new(Vec::new(), 0);
    let outcome = gather(&mut Window::new(data, Vec::new()), selection(kind, found, verify), &mut payloads);
    assert!(rows((payloads, outcome)) == expected);
    assert!(rows(compact(kind, found, data.clone(), 0, verify)) == expected);
}

fn assert_rewritten_frames_read_back(kind: FrameKind, payloads: &[Vec<u8>], data: &[u8]) {
    let mut frames = Frames::new(kind, Vec::new());
    payloads.iter().for_each(|payload| frames.push(payload).expect("a payload that was stored before"));
    if kind != FrameKind::RecordIo {
        assert!(frames.data == data);
    }
    let again = scan(&frames.data, kind, 0, true, Limit::NONE).expect("memory");
    assert!(again.fault.is_none() && again.lengths == frames.lengths);
    assert!(visit(&frames.data, selection(kind, &again, true)).0 == payloads);
}

fuzz_target!(|input: &[u8]| {
    let Some((&choice, data)) = input.split_first() else { return };
    let kind = FrameKind::ALL[usize::from(choice) % FrameKind::ALL.len()];
    let data = data.to_vec();
    let found = scan(&data, kind, 0, false, Limit::NONE).expect("memory");
    let checked = scan(&data, kind, 0, true, Limit::NONE).expect("memory");
    assert!(found.end <= data.len() as u64 && found.finished == found.fault.is_none());
    assert!(found.offsets.starts_with(&checked.offsets) && found.lengths.starts_with(&checked.lengths));
    assert_readers_agree(kind, &data, &found, true);
    assert_readers_agree(kind, &data, &found, false);
    let (payloads, has_fault) = visit(&data, selection(kind, &checked, true));
    assert!(!has_fault);
    assert_rewritten_frames_read_back(kind, &payloads, &data[..checked.end as usize]);
    let report = verify(&data, kind, Index::default(), None).expect("memory");
    assert!(report.num_faults > 0 || (checked.finished && report.offsets == checked.offsets));
    // Only `verify` rejects records whose padding is not zero.
    assert!(kind == FrameKind::RecordIo || report.offsets.starts_with(&checked.offsets));
});
