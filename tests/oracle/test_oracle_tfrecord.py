"""The TFRecord oracle against bytes and checksums written out by hand."""

from __future__ import annotations

import pytest

from recordmill.testing import tfrecord
from recordmill.testing.faults import OracleError, read_until_fault

EMPTY_RECORD = bytes.fromhex("0000000000000000 29039807 d8ea82a2")


@pytest.mark.parametrize(
    "data, crc",
    [
        (b"", 0x00000000),
        (b"123456789", 0xE3069283),
        (bytes(32), 0x8A9136AA),  # RFC 3720, B.4
        (b"\xff" * 32, 0x62A8AB43),
        (bytes(range(32)), 0x46DD794E),
    ],
)
def test_crc32c_matches_published_vectors(data: bytes, crc: int) -> None:
    assert tfrecord.crc32c(data) == crc


def test_mask_checksum_matches_specification() -> None:
    assert tfrecord.mask_checksum(tfrecord.crc32c(bytes(8))) == 0x07980329
    assert tfrecord.mask_checksum(tfrecord.crc32c(b"")) == 0xA282EAD8


@pytest.mark.parametrize("crc", [0, 1, 0x7FFF, 0x8000, 0xE3069283, 0xFFFFFFFF])
def test_unmask_checksum_inverts_mask_checksum(crc: int) -> None:
    assert tfrecord.unmask_checksum(tfrecord.mask_checksum(crc)) == crc


def test_frame_of_empty_payload_is_sixteen_known_bytes() -> None:
    assert tfrecord.frame(b"") == EMPTY_RECORD


def test_frame_of_payload_has_length_payload_and_checksums_in_place() -> None:
    frame = tfrecord.frame(b"123456789")
    assert frame[:8] == bytes([9, 0, 0, 0, 0, 0, 0, 0])
    assert frame[12:21] == b"123456789"
    assert tfrecord.unmask_checksum(int.from_bytes(frame[21:], "little")) == 0xE3069283
    assert len(frame) == 25


def test_unframe_of_no_bytes_has_no_records() -> None:
    assert tfrecord.read_all_records(b"") == []


def test_unframe_of_records_with_an_empty_one_between_goes_on() -> None:
    data = tfrecord.frame(b"hello") + EMPTY_RECORD + tfrecord.frame(b"x")
    assert tfrecord.read_all_records(data) == [(0, b"hello"), (21, b""), (37, b"x")]


def test_unframe_reports_kind_offset_and_position_of_fault() -> None:
    data = tfrecord.frame(b"hello") + EMPTY_RECORD[:-1] + b"\0"
    with pytest.raises(OracleError) as caught:
        tfrecord.read_all_records(data)
    assert (caught.value.kind, caught.value.offset, caught.value.position) == ("payload_checksum", 21, 1)


def test_read_until_fault_of_damaged_shard_keeps_records_before() -> None:
    found, error = read_until_fault(tfrecord.iter_records(tfrecord.frame(b"hello") + bytes(12)))
    assert found == [(0, b"hello")]
    assert error is not None
    assert error.kind == "length_checksum"


def test_oracle_error_rejects_unknown_kind() -> None:
    with pytest.raises(ValueError, match="no_such_kind"):
        OracleError("no_such_kind", 0)
