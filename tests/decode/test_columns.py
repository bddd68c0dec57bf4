"""Rows taken from columns: the same ones whichever way they are copied, in little memory."""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from recordmill.decode import columns
from recordmill.types import Ragged


@given(st.lists(st.integers(0, 9), max_size=12), st.data())
def test_rows_when_taken_by_values_or_whole_then_are_the_same(sizes: list[int], data: st.DataObject) -> None:
    splits = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    column = Ragged(np.arange(2 * splits[-1], dtype=np.int32).reshape(-1, 2), splits)
    rows = data.draw(st.lists(st.integers(0, len(sizes) - 1), max_size=9)) if sizes else []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(columns, "_LONG", 1)
        whole = columns.take(column, rows)
        patch.setattr(columns, "_LONG", 1 << 40)
        by_values = columns.take(column, rows)
    assert whole.data.dtype == np.int32 and whole.data.shape == by_values.data.shape
    assert whole.row_splits.tolist() == by_values.row_splits.tolist()
    assert _told(whole) == _told(by_values) == [_told(column)[row] for row in rows]


def test_rows_when_they_are_long_then_take_little_more_memory_than_they_have() -> None:
    column = Ragged(np.zeros(6_400_000, np.uint8), np.arange(65, dtype=np.int64) * 100_000)
    tracemalloc.start()
    try:
        taken = columns.take(column, np.arange(0, 64, 2))
        assert tracemalloc.get_traced_memory()[1] < 2 * taken.nbytes
    finally:
        tracemalloc.stop()


def _told(column: Ragged) -> list[Any]:
    return [row.tolist() for row in column]
