//! Fuzz target for framing: scans arbitrary bytes, compares all readers of frames, and writes the payloads again.
use recordmill_core::framing::{
    FrameBuffer, FrameIndex, FrameKind, FrameSelection, PayloadBuffer, ReadFailure, ScanLimit, ScanResult,
    SourceWindow, extract_payloads_in_place, for_each_payload, gather_payloads, scan, verify,
};

fn select_all_frames(kind: FrameKind, found: &ScanResult, verify: bool) -> FrameSelection<'_> {
    FrameSelection {
        kind,
        offsets: &found.offsets,
        lengths: &found.lengths,
        verify,
        checksums: None,
        max_payload_bytes: u64::MAX,
    }
}

/// Returns the payloads of the selected frames up to the first fault, and whether there was a fault.
fn read_until_fault(data: &Vec<u8>, selection: FrameSelection<'_>) -> (Vec<Vec<u8>>, bool) {
    let mut payloads = Vec::new();
    let outcome = for_each_payload(&mut SourceWindow::new(data, Vec::new()), selection, |_, payload| {
        payloads.push(payload.to_vec());
        Ok(())
    });
    (payloads, outcome.is_err())
}

fn payloads_and_outcome((payloads, outcome): (PayloadBuffer, Result<(), ReadFailure>)) -> (Vec<Vec<u8>>, bool) {
    let (buffer, _, splits) = payloads.into_parts();
    (splits.windows(2).map(|pair| buffer[pair[0] as usize..pair[1] as usize].to_vec()).collect(), outcome.is_err())
}

fn assert_readers_agree(kind: FrameKind, data: &Vec<u8>, found: &ScanResult, verify: bool) {
    let expected = read_until_fault(data, select_all_frames(kind, found, verify));
    let mut payloads = PayloadBuffer::new(Vec::new(), 0);
    let outcome = gather_payloads(
        &mut SourceWindow::new(data, Vec::new()),
        select_all_frames(kind, found, verify),
        &mut payloads,
    );
    assert!(payloads_and_outcome((payloads, outcome)) == expected);
    assert!(payloads_and_outcome(extract_payloads_in_place(kind, found, data.clone(), 0, verify)) == expected);
}

fn assert_rewritten_frames_read_back(kind: FrameKind, payloads: &[Vec<u8>], data: &[u8]) {
    let mut frames = FrameBuffer::new(kind, Vec::new());
    payloads.iter().for_each(|payload| frames.push_payload(payload).expect("a payload that was stored before"));
    if kind != FrameKind::RecordIo {
        assert!(frames.data == data);
    }
    let again = scan(&frames.data, kind, 0, true, ScanLimit::NONE).expect("memory");
    assert!(again.fault.is_none() && again.lengths == frames.lengths);
    assert!(read_until_fault(&frames.data, select_all_frames(kind, &again, true)).0 == payloads);
}

/// Checks one input of the fuzz target.
pub fn check_input(input: &[u8]) {
    let Some((&choice, data)) = input.split_first() else { return };
    let kind = FrameKind::ALL[usize::from(choice) % FrameKind::ALL.len()];
    let data = data.to_vec();
    let found = scan(&data, kind, 0, false, ScanLimit::NONE).expect("memory");
    let checked = scan(&data, kind, 0, true, ScanLimit::NONE).expect("memory");
    assert!(found.end <= data.len() as u64 && found.finished == found.fault.is_none());
    assert!(found.offsets.starts_with(&checked.offsets) && found.lengths.starts_with(&checked.lengths));
    assert_readers_agree(kind, &data, &found, true);
    assert_readers_agree(kind, &data, &found, false);
    let (payloads, has_fault) = read_until_fault(&data, select_all_frames(kind, &checked, true));
    assert!(!has_fault);
    assert_rewritten_frames_read_back(kind, &payloads, &data[..checked.end as usize]);
    let report = verify(&data, kind, FrameIndex::default(), u64::MAX, None).expect("memory");
    assert!(report.num_faults > 0 || (checked.finished && report.offsets == checked.offsets));
    // Only `verify` rejects records whose padding is not zero.
    assert!(kind == FrameKind::RecordIo || report.offsets.starts_with(&checked.offsets));
}
