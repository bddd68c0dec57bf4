"""Rows of different lengths side by side, against plain loops."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from recordmill.types import Ragged


@pytest.mark.parametrize("dtype", [np.int64, np.float32, np.uint8])
@pytest.mark.parametrize("inner", [(), (3,), (0,)])
@pytest.mark.parametrize("counts", [[], [0], [0, 0], [3, 0, 5], [7]])
@pytest.mark.parametrize("length", [None, 0, 2, 9])
def test_rows_when_padded_then_are_cut_and_filled(
    dtype: Any, inner: tuple[int, ...], counts: list[int], length: int | None
) -> None:
    splits = np.cumsum([0, *counts], dtype=np.int64)
    data = (
        np.arange(int(splits[-1]) * int(np.prod(inner))).reshape(-1, *inner)
        if 0 not in inner
        else np.zeros((sum(counts), 0))
    )
    data = data.astype(dtype)
    width = max(counts, default=0) if length is None else length
    expected = np.full((len(counts), width, *inner), 7, dtype)
    for row, (start, count) in enumerate(zip(splits, counts, strict=False)):
        kept = min(count, width)
        expected[row, :kept] = data[start : start + kept]
    found = Ragged(data, splits).to_padded(7, length)
    assert found.dtype == expected.dtype
    assert found.shape == expected.shape
    assert (found == expected).all()


def test_rows_when_padded_beyond_memory_then_is_an_error() -> None:
    with pytest.raises(ValueError, match="fit into memory"):
        Ragged(np.arange(3), np.array([0, 3])).to_padded(0, 1 << 62)
