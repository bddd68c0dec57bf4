"""The RecordIO oracle against bytes written out by hand."""

from __future__ import annotations

import pytest
from hypothesis import given

from recordmill.testing import recordio, strategies
from recordmill.testing.recordio import MAGIC


def head(cflag: int, length: int) -> bytes:
    return MAGIC + bytes([length & 0xFF, length >> 8, 0, cflag << 5])


def test_magic_is_the_four_bytes_of_the_specification() -> None:
    assert bytes([0x0A, 0x23, 0xD7, 0xCE]) == MAGIC


@pytest.mark.parametrize(
    "payload, frame",
    [
        (b"", head(0, 0)),
        (b"abcd", head(0, 4) + b"abcd"),
        (b"abcde", head(0, 5) + b"abcde\0\0\0"),
        (MAGIC, head(1, 0) + head(3, 0)),
        (MAGIC * 2, head(1, 0) + head(2, 0) + head(3, 0)),
        (b"abcd" + MAGIC + b"xyz", head(1, 4) + b"abcd" + head(3, 3) + b"xyz\0"),
        (b"a" + MAGIC, head(0, 5) + b"a" + MAGIC + b"\0\0\0"),
        (MAGIC[:3], head(0, 3) + MAGIC[:3] + b"\0"),
        (b"abcd" + MAGIC[:3], head(0, 7) + b"abcd" + MAGIC[:3] + b"\0"),
    ],
)
def test_frame_of_payload_is_split_at_aligned_magic_words_only(payload: bytes, frame: bytes) -> None:
    assert recordio.frame(payload) == frame
    assert recordio.read_all_records(frame) == [(0, payload)]


def test_frame_of_magic_alone_takes_sixteen_bytes() -> None:
    assert len(recordio.frame(MAGIC)) == 16


def test_offsets_of_five_tutorial_records_are_those_of_their_idx_file() -> None:
    data = b"".join(recordio.frame(b"record_%d" % number) for number in range(5))
    assert [offset for offset, _ in recordio.read_all_records(data)] == [0, 16, 32, 48, 64]


def test_frame_rejects_too_long_payload() -> None:
    with pytest.raises(ValueError, match="at most 536870911 bytes, got 536870912"):
        recordio.frame(bytes(2**29))


def test_resync_positions_of_split_records_are_their_first_parts() -> None:
    payloads = [b"one", MAGIC * 2 + b"tail", b"", b"1" + MAGIC + b"unaligned"]
    data = b"".join(map(recordio.frame, payloads))
    starts = [offset for offset, _ in recordio.read_all_records(data)]
    assert recordio.find_resync_offsets(data) == starts
    assert recordio.find_resync_offsets(data, starts[1] + 1) == starts[2:]


def test_bad_padding_reports_offset_and_record() -> None:
    odd = head(1, 0) + head(3, 1) + b"x\0\0\1"
    data = recordio.frame(b"abc") + odd
    assert recordio.find_bad_padding(data) == [(20, 1)]
    assert recordio.read_all_records(data)[1] == (12, MAGIC + b"x")


@given(strategies.payload_lists())
def test_unframe_inverts_frame_at_aligned_offsets(payloads: list[bytes]) -> None:
    data = b"".join(map(recordio.frame, payloads))
    found = recordio.read_all_records(data)
    assert [payload for _, payload in found] == payloads
    assert recordio.find_resync_offsets(data) == [offset for offset, _ in found]
    assert recordio.find_bad_padding(data) == []
