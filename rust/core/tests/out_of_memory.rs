//! Every parser and decoder returns an error if an allocation fails, and never aborts the process.
#[path = "../../memory/failing_allocator.rs"]
mod failing_allocator;

use failing_allocator::run_failing;
use recordmill_core::checksum::crc32c;
use recordmill_core::error::{Fault, FaultKind};
use recordmill_core::framing::{
    FrameBuffer, FrameIndex, FrameKind, FrameSelection, PayloadBuffer, ReadFailure, ScanLimit, ScanResult,
    SourceWindow, extract_payloads_in_place, for_each_cached_payload, for_each_payload, for_each_scattered_payload,
    gather_payloads, scan, scan_past_damage, verify,
};
use recordmill_core::inflate::{CompressedSource, Container, Limits};
use recordmill_core::memory::OutOfMemory;
use recordmill_core::payload::{
    Column, ColumnData, ColumnSpec, FeatureCollector, LongString, MissingPolicy, Parser, PayloadKind, Plan, Section,
    ValueCount, ValueKind, Values, ValuesRef, serialize,
};
use recordmill_core::source::{ReadAt, SourceError};
use std::cell::Cell;
use std::fmt::Debug;

/// Allocations of at least this size fail. Smaller ones never fail, because their size does not depend on the input.
const THRESHOLD: usize = 2 << 10;
/// Threshold for decompression. It is larger, because the decompressor itself takes a fixed size of about 11 KiB.
const INFLATE_THRESHOLD: usize = 32 << 10;

/// Fails every allocation of `operation` in turn.
fn fail_each_allocation<T: PartialEq + Debug>(
    name: &str,
    threshold: usize,
    operation: impl Fn() -> Result<T, SourceError>,
) {
    let is_out_of_memory =
        |error: &SourceError| matches!(error, SourceError::Fault(fault) if fault.kind == FaultKind::OutOfMemory);
    failing_allocator::fail_each_allocation(name, threshold, is_out_of_memory, operation);
}

fn read_failure(failure: ReadFailure) -> SourceError {
    failure.error
}

/// Payloads of many lengths, some of which contain RecordIO's magic word.
fn sample_payloads(count: usize) -> Vec<Vec<u8>> {
    let payload = |number: usize| {
        let len = [1, 20, 300, 9_000, 5_000][number % 5] + number % 7;
        let mut payload: Vec<u8> = (0..len).map(|byte| (byte * 7 + number) as u8).collect();
        if number % 11 == 2 && len >= 8 {
            payload[4..8].copy_from_slice(&0xCED7_230A_u32.to_le_bytes());
        }
        payload
    };
    (0..count).map(payload).collect()
}

fn write_frames(kind: FrameKind, payloads: &[Vec<u8>]) -> Result<FrameBuffer, Fault> {
    let mut frames = FrameBuffer::new(kind, Vec::new());
    payloads.iter().try_for_each(|payload| frames.push_payload(payload))?;
    Ok(frames)
}

fn scan_parts(found: ScanResult) -> (Vec<i64>, Vec<i64>, u64, usize) {
    (found.offsets, found.lengths, found.end, found.skipped.len())
}

/// Returns one number that combines the checksums of all payloads that a reader visits.
fn collect_checksums(
    read: impl FnOnce(&mut dyn FnMut(usize, &[u8]) -> Result<(), SourceError>) -> Result<(), ReadFailure>,
) -> Result<u64, SourceError> {
    let mut sum = 0_u64;
    read(&mut |_, payload| {
        sum = sum.wrapping_mul(31).wrapping_add(u64::from(crc32c(payload)));
        Ok(())
    })
    .map_err(read_failure)?;
    Ok(sum)
}

#[test]
fn scans_return_an_error_without_memory() {
    for &kind in FrameKind::ALL {
        let name = kind.name();
        let frames = write_frames(kind, &vec![b"short".to_vec(); 3_000]).unwrap();
        let data = &frames.data;
        fail_each_allocation(&format!("scan {name}"), THRESHOLD, || {
            scan(data, kind, 0, false, ScanLimit::NONE).map(scan_parts)
        });
        fail_each_allocation(&format!("scan {name} with checksums"), THRESHOLD, || {
            scan(data, kind, 0, true, ScanLimit::NONE).map(scan_parts)
        });
        let mut damaged = data.clone();
        (0..300).for_each(|number| damaged[frames.lengths[0] as usize * number * 10] ^= 0x55);
        fail_each_allocation(&format!("scan {name} past damage"), THRESHOLD, || {
            scan_past_damage(&damaged, kind, 0, false, ScanLimit::NONE).map(scan_parts)
        });
    }
}

#[test]
fn verification_returns_an_error_without_memory() {
    for &kind in FrameKind::ALL {
        let payloads = sample_payloads(400);
        let frames = write_frames(kind, &payloads).unwrap();
        let offsets: Vec<i64> = (0..frames.lengths.len()).map(|i| frames.lengths[..i].iter().sum()).collect();
        let checksums: Vec<i64> = payloads.iter().map(|payload| i64::from(crc32c(payload))).collect();
        let index = FrameIndex { offsets: &offsets, lengths: &frames.lengths, checksums: &checksums };
        let mut damaged = frames.data.clone();
        (0..400).for_each(|number| damaged[offsets[number] as usize + 8] ^= 0x55);
        for (name, data) in [("intact", &frames.data), ("damaged", &damaged)] {
            fail_each_allocation(&format!("verify {name} {}", kind.name()), THRESHOLD, || {
                let report = verify(data, kind, index, u64::MAX, Some(&mut |_, _, _| None))?;
                Ok((report.offsets, report.lengths, report.num_faults, report.end))
            });
        }
    }
}

#[test]
fn readers_of_payloads_return_an_error_without_memory() {
    for &kind in FrameKind::ALL {
        let name = kind.name();
        let frames = write_frames(kind, &sample_payloads(300)).unwrap();
        let (data, lengths) = (&frames.data, &frames.lengths[..]);
        let offsets: Vec<i64> = (0..lengths.len()).map(|i| lengths[..i].iter().sum()).collect();
        let selection = FrameSelection {
            kind,
            offsets: &offsets,
            lengths,
            verify: true,
            checksums: None,
            max_payload_bytes: u64::MAX,
        };
        let indices = vec![0; offsets.len()];
        fail_each_allocation(&format!("read {name}"), THRESHOLD, || {
            collect_checksums(|visit| for_each_payload(&mut SourceWindow::new(data, Vec::new()), selection, visit))
        });
        fail_each_allocation(&format!("read {name} from scattered frames"), THRESHOLD, || {
            collect_checksums(|visit| {
                for_each_scattered_payload(&[&data[..]], &indices, selection, &mut Vec::new(), visit)
            })
        });
        if kind == FrameKind::RecordIo {
            fail_each_allocation(&format!("read {name} from memory"), THRESHOLD, || {
                collect_checksums(|visit| for_each_cached_payload(&[data], &indices, selection, visit))
            });
        }
        fail_each_allocation(&format!("gather {name}"), THRESHOLD, || {
            let mut payloads = PayloadBuffer::new(Vec::new(), 2_000);
            let result = gather_payloads(&mut SourceWindow::new(data, Vec::new()), selection, &mut payloads);
            result.map_err(read_failure)?;
            let (buffer, len, splits) = payloads.into_parts();
            Ok((crc32c(&buffer[..len]), splits))
        });
        let found = scan(data, kind, 0, false, ScanLimit::NONE).unwrap();
        let copies: Cell<Vec<Vec<u8>>> = Cell::default();
        // The copies of the input are made in advance, because their allocation must not fail.
        copies.set(vec![data.clone(); 40]);
        fail_each_allocation(&format!("extract {name} in place"), THRESHOLD, || {
            let mut rest = copies.take();
            let copy = rest.pop().unwrap();
            copies.set(rest);
            let (payloads, result) = extract_payloads_in_place(kind, &found, copy, 0, true);
            result.map_err(read_failure)?;
            let (buffer, len, splits) = payloads.into_parts();
            Ok((crc32c(&buffer[..len]), splits))
        });
    }
}

#[test]
fn writers_of_frames_return_an_error_without_memory() {
    for &kind in FrameKind::ALL {
        let payloads = sample_payloads(600);
        fail_each_allocation(&format!("write {}", kind.name()), THRESHOLD, || {
            let frames = write_frames(kind, &payloads)?;
            Ok((crc32c(&frames.data), frames.lengths, frames.checksums))
        });
    }
}

/// A value for each kind that a payload kind supports, in records of different sizes.
fn build_columns(kind: PayloadKind, num_records: usize) -> Vec<(ColumnSpec, Column)> {
    let sections: &[Section] = match kind {
        PayloadKind::SequenceExample => &[Section::Context, Section::Lists],
        _ => &[Section::Context],
    };
    let kinds: &[(&str, ValueKind)] = match kind {
        PayloadKind::IrHeader => {
            &[("data", ValueKind::Bytes), ("id", ValueKind::UInt64), ("label", ValueKind::Float32)]
        }
        PayloadKind::OfRecord => &[
            ("bytes", ValueKind::Bytes),
            ("double", ValueKind::Float64),
            ("float", ValueKind::Float32),
            ("int", ValueKind::Int32),
            ("long", ValueKind::Int64),
        ],
        _ => &[("bytes", ValueKind::Bytes), ("float", ValueKind::Float32), ("long", ValueKind::Int64)],
    };
    let mut columns = Vec::new();
    for &section in sections {
        for &(name, value_kind) in kinds {
            let per_record = if kind == PayloadKind::IrHeader && name != "label" { 1 } else { 50 };
            let spec = ColumnSpec {
                name: name.into(),
                section,
                kind: value_kind,
                value_count: ValueCount::Ragged,
                missing: MissingPolicy::Empty,
            };
            let count = num_records * per_record;
            let splits = |step: usize, len: usize| (0..=len as i64).map(|row| row * step as i64).collect::<Vec<_>>();
            let values = match value_kind {
                ValueKind::Bytes => Values::Bytes { data: vec![7; 90 * count], splits: splits(90, count) },
                ValueKind::Float32 => Values::Float32(vec![0.5; count]),
                ValueKind::Float64 => Values::Float64(vec![0.5; count]),
                ValueKind::Int32 => Values::Int32((0..count as i32).collect()),
                ValueKind::Int64 => Values::Int64((0..count as i64).map(|value| value * 1_000).collect()),
                ValueKind::UInt64 => Values::UInt64((0..count as u64).collect()),
            };
            let column = match section {
                Section::Context => {
                    Column { values, row_splits: Some(splits(per_record, num_records)), frame_splits: None }
                }
                Section::Lists => Column {
                    values,
                    row_splits: Some(splits(10, num_records)),
                    frame_splits: Some(splits(5, 10 * num_records)),
                },
            };
            columns.push((spec, column));
        }
    }
    columns
}

fn borrow_columns(columns: &[(ColumnSpec, Column)]) -> Vec<ColumnData<'_>> {
    columns.iter().map(borrow_column).collect()
}

fn borrow_column((spec, column): &(ColumnSpec, Column)) -> ColumnData<'_> {
    let values = match &column.values {
        Values::Bytes { data, splits } => ValuesRef::Bytes { data, splits },
        Values::Float32(values) => ValuesRef::Float32(values),
        Values::Float64(values) => ValuesRef::Float64(values),
        Values::Int32(values) => ValuesRef::Int32(values),
        Values::Int64(values) => ValuesRef::Int64(values),
        Values::UInt64(values) => ValuesRef::UInt64(values),
    };
    ColumnData {
        name: &spec.name,
        section: spec.section,
        values,
        fixed: None,
        row_splits: column.row_splits.as_deref(),
        frame_splits: column.frame_splits.as_deref(),
        present: None,
        scalar: false,
    }
}

const KINDS: [PayloadKind; 4] =
    [PayloadKind::Example, PayloadKind::SequenceExample, PayloadKind::OfRecord, PayloadKind::IrHeader];

fn serialize_columns(kind: PayloadKind, columns: &[(ColumnSpec, Column)]) -> (Vec<u8>, Vec<i64>) {
    serialize(kind, columns[0].1.row_splits.as_ref().unwrap().len() - 1, &borrow_columns(columns)).unwrap()
}

fn parse_all(plan: &Plan, data: &[u8], splits: &[i64], reserved: usize) -> Result<Vec<Column>, Fault> {
    let mut parser = Parser::new(plan, reserved)?;
    for pair in splits.windows(2) {
        parser.push_payload(&data[pair[0] as usize..pair[1] as usize])?;
        parser.preallocate(splits.len(), usize::MAX, |num_bytes| {
            let mut buffer = Vec::new();
            let _ = buffer.try_reserve_exact(num_bytes);
            buffer
        });
    }
    Ok(parser.finish()?)
}

#[test]
fn parsers_return_an_error_without_memory() {
    for kind in KINDS {
        let columns = build_columns(kind, 40);
        let (data, splits) = serialize_columns(kind, &columns);
        let mut specs: Vec<ColumnSpec> = columns.iter().map(|(spec, _)| spec.clone()).collect();
        if kind == PayloadKind::Example {
            let default = Values::Bytes { data: vec![1; 500], splits: vec![0, 500] };
            let missing = MissingPolicy::Default(default);
            let (name, value_count) = (b"absent".to_vec(), ValueCount::Fixed(1));
            specs.push(ColumnSpec { name, section: Section::Context, kind: ValueKind::Bytes, value_count, missing });
        }
        let plan = Plan::new(kind, specs).unwrap();
        for reserved in [0, 1_000] {
            fail_each_allocation(&format!("parse {kind:?}, {reserved} records reserved"), THRESHOLD, || {
                Ok(parse_all(&plan, &data, &splits, reserved)?)
            });
        }
        fail_each_allocation(&format!("collect features of {kind:?}"), 256, || {
            let mut collector = FeatureCollector::new(kind);
            for pair in splits.windows(2) {
                collector.push_payload(&data[pair[0] as usize..pair[1] as usize])?;
            }
            Ok(collector.finish()?)
        });
        fail_each_allocation(&format!("append columns of {kind:?}"), THRESHOLD, || {
            let [mut one, other] = [parse_all(&plan, &data, &splits, 0)?, parse_all(&plan, &data, &splits, 0)?];
            one.iter_mut().zip(other).try_for_each(|(one, other)| one.append(other))?;
            Ok(one)
        });
    }
}

#[test]
fn parsers_of_many_features_return_an_error_without_memory() {
    for kind in [PayloadKind::Example, PayloadKind::OfRecord] {
        let names: Vec<String> = (0..1_200).map(|number| format!("feature {number:050}")).collect();
        let long_name = "a".repeat(5_000);
        let row_splits = [0, 1];
        let data: Vec<ColumnData> = names
            .iter()
            .chain([&long_name])
            .map(|name| ColumnData {
                name: name.as_bytes(),
                section: Section::Context,
                values: ValuesRef::Int64(&[5]),
                fixed: None,
                row_splits: Some(&row_splits),
                frame_splits: None,
                present: None,
                scalar: false,
            })
            .collect();
        fail_each_allocation(&format!("serialize many features of {kind:?}"), THRESHOLD, || {
            Ok(serialize(kind, 1, &data)?)
        });
        let (payload, _) = serialize(kind, 1, &data).unwrap();
        let specs: Vec<ColumnSpec> = names
            .iter()
            .map(|name| ColumnSpec {
                name: name.as_bytes().to_vec(),
                section: Section::Context,
                kind: ValueKind::Int64,
                value_count: ValueCount::Fixed(1),
                missing: MissingPolicy::Error,
            })
            .collect();
        let copies: Cell<Vec<Vec<ColumnSpec>>> = Cell::default();
        copies.set(vec![specs.clone(); 40]);
        fail_each_allocation(&format!("compile many columns of {kind:?}"), THRESHOLD, || {
            let mut rest = copies.take();
            let specs = rest.pop().unwrap();
            copies.set(rest);
            Ok(Plan::new(kind, specs)?.columns().len())
        });
        let plan = Plan::new(kind, specs).unwrap();
        fail_each_allocation(&format!("parse many features of {kind:?}"), THRESHOLD, || {
            Ok(parse_all(&plan, &payload, &[0, payload.len() as i64], 1)?)
        });
        fail_each_allocation(&format!("collect many features of {kind:?}"), THRESHOLD, || {
            let mut collector = FeatureCollector::new(kind);
            collector.push_payload(&payload)?;
            Ok(collector.finish()?)
        });
    }
}

#[test]
fn parser_keeps_earlier_records_after_a_failed_allocation() {
    for kind in KINDS {
        let columns = build_columns(kind, 2);
        let (data, splits) = serialize_columns(kind, &columns);
        let plan = Plan::new(kind, columns.iter().map(|(spec, _)| spec.clone()).collect()).unwrap();
        let payloads: Vec<&[u8]> = splits.windows(2).map(|pair| &data[pair[0] as usize..pair[1] as usize]).collect();
        let mut num_failures = 0;
        for failing in 0.. {
            let mut parser = Parser::new(&plan, 0).unwrap();
            parser.push_payload(payloads[0]).unwrap();
            let (result, _) = run_failing(64, (failing, usize::MAX), || parser.push_payload(payloads[1]));
            if result.is_ok() {
                break;
            }
            num_failures += 1;
            assert_eq!(parser.num_records(), 1);
            parser.push_payload(payloads[1]).unwrap();
            assert_eq!(parser.finish().unwrap(), parse_all(&plan, &data, &splits, 0).unwrap());
        }
        assert!(num_failures > 0);
    }
}

#[test]
fn serialization_returns_an_error_without_memory() {
    for kind in KINDS {
        let columns = build_columns(kind, 40);
        let data = borrow_columns(&columns);
        fail_each_allocation(&format!("serialize {kind:?}"), THRESHOLD, || Ok(serialize(kind, 40, &data)?));
    }
}

#[test]
fn shortened_payload_is_not_written_without_memory() {
    let image = vec![9; 40_000];
    let (splits, row_splits) = ([0, image.len() as i64], [0, 1]);
    let column = ColumnData {
        name: b"image",
        section: Section::Context,
        values: ValuesRef::Bytes { data: &image, splits: &splits },
        fixed: None,
        row_splits: Some(&row_splits),
        frame_splits: None,
        present: None,
        scalar: false,
    };
    let (payload, _) = serialize(PayloadKind::Example, 1, &[column]).unwrap();
    let spec = ColumnSpec {
        name: b"image".to_vec(),
        section: Section::Context,
        kind: ValueKind::Bytes,
        value_count: ValueCount::Fixed(1),
        missing: MissingPolicy::Error,
    };
    let plan = Plan::new(PayloadKind::Example, vec![spec]).unwrap();
    let string = LongString::locate(&plan, &payload[..200], payload.len()).unwrap();
    let tail = vec![0; 5_000];
    let write = || string.write_shortened(&payload[..200], &tail, &mut Vec::new());
    assert!(write() && !run_failing(THRESHOLD, (0, usize::MAX), write).0);
}

/// Data with little redundancy, so that a deflate stream of it has many blocks.
fn sample_data(len: usize) -> Vec<u8> {
    let mut state = 1_u32;
    let next = |_| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8 & 0x3f
    };
    (0..len).map(next).collect()
}

fn read_checksum(source: &dyn ReadAt, offset: u64, buf: &mut [u8]) -> Result<u32, SourceError> {
    let mut done = 0;
    while done < buf.len() {
        match source.read_at(offset + done as u64, &mut buf[done..])? {
            0 => break,
            count => done += count,
        }
    }
    Ok(crc32c(&buf[..done]))
}

#[test]
fn decompression_returns_an_error_without_memory() {
    let data = sample_data(1 << 20);
    let file = miniz_oxide::deflate::compress_to_vec_zlib(&data, 6);
    let buffer = Cell::new(vec![0; data.len()]);
    let open = || CompressedSource::new(&file[..], Container::Zlib, Limits::default(), 50_000);
    let read = |source: &dyn ReadAt, offset: u64| {
        let mut buf = buffer.take();
        let result = read_checksum(source, offset, &mut buf);
        buffer.set(buf);
        result
    };
    fail_each_allocation("inflate and read again from seek points", INFLATE_THRESHOLD, || {
        let source = open();
        let whole = read(&source, 0)?;
        Ok((whole, read(&source, 700_000)?, read(&source, 300_000)?))
    });
    let first = open();
    read(&first, 0).unwrap();
    let blob = first.save_seek_points().unwrap();
    assert!(first.num_seek_points() > 5);
    fail_each_allocation("restore seek points and read", 4 << 10, || {
        let source = open();
        source.restore_seek_points(&blob)?;
        // The decompressor is allocated on the first read, with a fixed size.
        Ok(source.num_seek_points())
    });
    fail_each_allocation("read from a restored seek point", INFLATE_THRESHOLD, || {
        let source = open();
        source.restore_seek_points(&blob)?;
        read(&source, 700_000)
    });
    fail_each_allocation("save restored seek points", THRESHOLD, || {
        let source = open();
        source.restore_seek_points(&blob)?;
        Ok(source.save_seek_points()?)
    });
    // The compressor of windows cannot report a failed allocation, so the memory that it needs is checked in advance.
    let second = open();
    read(&second, 0).unwrap();
    let (result, _) = run_failing(512 << 10, (0, 1), || second.save_seek_points());
    assert_eq!(result, Err(OutOfMemory { num_bytes: 512 << 10 }));
    assert_eq!(second.save_seek_points().unwrap(), blob);
}

/// A source whose length is unknown until its end is read, as for compressed shards.
struct UnknownLength<'d>(&'d [u8]);

impl ReadAt for UnknownLength<'_> {
    fn num_bytes(&self) -> Option<u64> {
        None
    }

    fn read_at(&self, offset: u64, buf: &mut [u8]) -> Result<usize, SourceError> {
        self.0.read_at(offset, buf)
    }

    fn is_sequential(&self) -> bool {
        true
    }
}

#[test]
fn long_record_of_a_source_of_unknown_length_is_an_error_without_memory() {
    let frames = write_frames(FrameKind::TfRecord, &[vec![5; 5 << 20]]).unwrap();
    let selection = FrameSelection {
        kind: FrameKind::TfRecord,
        offsets: &[0],
        lengths: &frames.lengths,
        verify: true,
        checksums: None,
        max_payload_bytes: u64::MAX,
    };
    let source = UnknownLength(&frames.data);
    fail_each_allocation("gather a long record of unknown length", 64 << 10, || {
        let mut payloads = PayloadBuffer::new(Vec::new(), 1);
        gather_payloads(&mut SourceWindow::new(&source, Vec::new()), selection, &mut payloads).map_err(read_failure)?;
        Ok(payloads.num_bytes())
    });
}
