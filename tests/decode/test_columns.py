"""Columns: rows are equal however they are copied, and byte strings of one buffer equal a list of them."""

from __future__ import annotations

import io
import tracemalloc
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st
from PIL import Image

import recordmill as rm
from recordmill.decode import columns
from recordmill.decode.columns import ByteRows
from recordmill.types import Ragged


@given(st.lists(st.integers(0, 9), max_size=12), st.data())
def test_take_returns_same_rows_with_either_copy(sizes: list[int], data: st.DataObject) -> None:
    splits = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    column = Ragged(np.arange(2 * splits[-1], dtype=np.int32).reshape(-1, 2), splits)
    rows = data.draw(st.lists(st.integers(0, len(sizes) - 1), max_size=9)) if sizes else []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(columns, "_MIN_LONG_ROW", 1)
        whole = columns.take_column_rows(column, rows)
        patch.setattr(columns, "_MIN_LONG_ROW", 1 << 40)
        by_values = columns.take_column_rows(column, rows)
    assert whole.data.dtype == np.int32 and whole.data.shape == by_values.data.shape
    assert whole.row_splits.tolist() == by_values.row_splits.tolist()
    assert _to_lists(whole) == _to_lists(by_values) == [_to_lists(column)[row] for row in rows]


def test_take_of_long_rows_needs_little_extra_memory() -> None:
    column = Ragged(np.zeros(6_400_000, np.uint8), np.arange(65, dtype=np.int64) * 100_000)
    tracemalloc.start()
    try:
        taken = columns.take_column_rows(column, np.arange(0, 64, 2))
        assert tracemalloc.get_traced_memory()[1] < 2 * taken.nbytes
    finally:
        tracemalloc.stop()


def _to_lists(column: Ragged) -> list[Any]:
    return [row.tolist() for row in column]


@given(st.lists(st.binary(max_size=9), max_size=8))
def test_byte_rows_are_the_byte_strings(strings: list[bytes]) -> None:
    rows = ByteRows(Ragged.from_rows(strings))
    assert list(map(bytes, rows)) == strings == [bytes(rows[row]) for row in range(len(rows))]
    assert [bytes(row) for row in rows[1:]] == strings[1:]
    assert [bytes(rows[row - len(rows)]) for row in range(len(rows))] == strings
    with pytest.raises(IndexError):
        rows[len(rows)]


def test_images_of_one_buffer_decode_as_a_list() -> None:
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


def test_row_splits_beyond_the_buffer_raise() -> None:
    column = Ragged(np.zeros(10, np.uint8), np.array([0, 4, 11]))
    with pytest.raises(ValueError, match="row splits"):
        rm.decode_batch({"image": column}, {"image": rm.Image()})
