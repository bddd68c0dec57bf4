"""Rows of one buffer: the same byte strings as a list of them, to Python and to the native decoder."""

from __future__ import annotations

import io

import numpy as np
import pytest
from hypothesis import given, strategies as st
from PIL import Image

import recordmill as rm
from recordmill.decode.columns import ByteRows
from recordmill.types import Ragged


@given(st.lists(st.binary(max_size=9), max_size=8))
def test_rows_when_taken_one_by_one_then_are_the_byte_strings(strings: list[bytes]) -> None:
    rows = ByteRows(Ragged.from_rows(strings))
    assert list(map(bytes, rows)) == strings == [bytes(rows[place]) for place in range(len(rows))]
    assert [bytes(row) for row in rows[1:]] == strings[1:]
    assert [bytes(rows[place - len(rows)]) for place in range(len(rows))] == strings
    with pytest.raises(IndexError):
        rows[len(rows)]


def test_images_when_they_lie_in_one_buffer_then_decode_as_from_a_list() -> None:
    files = []
    for number in range(5):
        memory = io.BytesIO()
        pixels = np.random.default_rng(number).integers(0, 256, (9, 7, 3), np.uint8)
        Image.fromarray(pixels).save(memory, "PNG" if number % 2 else "JPEG")
        files.append(memory.getvalue())
    spec = {"image": rm.Image()}
    expected = rm.decode_batch({"image": files}, spec)["image"]
    assert np.array_equal(rm.decode_batch({"image": Ragged.from_rows(files)}, spec)["image"], expected)
    spread = np.repeat(np.frombuffer(b"".join(files), np.uint8), 2)[::2]
    column = Ragged(spread, np.cumsum([0, *map(len, files)]))
    assert np.array_equal(rm.decode_batch({"image": column}, spec)["image"], expected)


def test_images_when_row_splits_leave_the_buffer_then_are_refused() -> None:
    column = Ragged(np.zeros(10, np.uint8), np.array([0, 4, 11]))
    with pytest.raises(ValueError, match="row splits"):
        rm.decode_batch({"image": column}, {"image": rm.Image()})
