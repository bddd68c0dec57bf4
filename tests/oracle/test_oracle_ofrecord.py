"""The OFRecord oracle against bytes written out by hand."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from recordmill.testing import ofrecord, strategies


def test_frame_of_three_bytes_is_length_and_bytes() -> None:
    assert ofrecord.frame(b"abc") == bytes([3, 0, 0, 0, 0, 0, 0, 0]) + b"abc"


def test_frame_rejects_empty_payload() -> None:
    with pytest.raises(ValueError, match="payload must not be empty"):
        ofrecord.frame(b"")


@pytest.mark.parametrize(
    "number, suffix_length, name",
    [(0, -1, "part-0"), (10, -1, "part-10"), (10, 0, "part-10"), (7, 1, "part-7"), (3, 5, "part-00003")],
)
def test_part_name_of_number_is_filled_with_zeros(number: int, suffix_length: int, name: str) -> None:
    assert ofrecord.build_part_name(number, suffix_length=suffix_length) == name


def test_unframe_parts_of_record_cut_in_its_length_goes_on_in_the_next_part() -> None:
    stream = ofrecord.frame(b"first") + ofrecord.frame(b"second")
    parts = [stream[:16], b"", stream[16:]]
    assert ofrecord.read_records_of_parts(parts) == [(0, 0, b"first"), (0, 13, b"second")]


def test_unframe_parts_of_record_at_the_end_of_a_part_begins_in_the_next() -> None:
    parts = [ofrecord.frame(b"first"), b"", ofrecord.frame(b"second")]
    assert ofrecord.read_records_of_parts(parts) == [(0, 0, b"first"), (2, 0, b"second")]


@given(strategies.payload_lists(min_payload_bytes=1), st.data())
def test_unframe_parts_of_any_cuts_returns_payloads(payloads: list[bytes], data: st.DataObject) -> None:
    stream = b"".join(map(ofrecord.frame, payloads))
    parts = data.draw(strategies.chunks(stream))
    assert b"".join(parts) == stream
    assert [payload for _, _, payload in ofrecord.read_records_of_parts(parts)] == payloads
