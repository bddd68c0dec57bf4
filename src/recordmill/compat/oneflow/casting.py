"""Numbers of one kind as those of another, as C casts them on x86-64, where the language leaves it open."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def cast(values: NDArray[Any], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Cut fractions, keep low bits of whole numbers; floats that do not fit become the smallest number."""
    if values.dtype.kind == "f" and dtype.kind in "iu":
        wide = np.dtype("int64") if dtype.itemsize == 8 else np.dtype("int32")
        return _whole(values, wide).astype(dtype)
    with np.errstate(over="ignore"):
        return values.astype(dtype)


def _whole(values: NDArray[Any], dtype: np.dtype[Any]) -> NDArray[Any]:
    cut, top = np.trunc(values.astype(np.float64)), 2.0 ** (8 * dtype.itemsize - 1)
    fits = (cut >= -top) & (cut < top)
    return np.where(fits, cut, -top).astype(dtype)
