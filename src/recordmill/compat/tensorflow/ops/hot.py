"""Tensors that mark places: one-hot rows and masks of lengths."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recordmill.compat.tensorflow.core.arrays import array_of, scalar_array
from recordmill.compat.tensorflow.core.dispatch import op
from recordmill.compat.tensorflow.core.dtypes import as_dtype
from recordmill.compat.tensorflow.core.errors import InvalidArgumentError
from recordmill.compat.tensorflow.core.tensor import Tensor, wrap
from recordmill.compat.tensorflow.ops.matching import NUMBERS, allow

# Indices from which on a table of rows is worth making.
_MANY = 256


@op("array.one_hot")
def one_hot(
    indices: Any, depth: Any, on_value: Any = None, off_value: Any = None, axis: Any = None, dtype: Any = None
) -> Tensor:
    """Rows with one value at the place that an index names, and another value elsewhere."""
    array = array_of(indices)
    allow(array, "bBilq", "OneHot", "TI")
    on, off = _hot_values(on_value, off_value, dtype)
    count = int(depth)
    if count < 0:
        raise InvalidArgumentError(f"depth must be non-negative, got: {count} [Op:OneHot]")
    place = -1 if axis is None else int(axis)
    if not -1 <= place <= array.ndim:
        raise InvalidArgumentError(
            f"Expected axis to be -1 or between [0, {array.ndim + 1}).  But received: {place} [Op:OneHot]"
        )
    if place in (-1, array.ndim) and array.size >= max(_MANY, count):
        return wrap(_rows(array, count, on, off))
    where = np.expand_dims(array, place)
    places = np.arange(count).reshape([-1 if one == place % (array.ndim + 1) else 1 for one in np.arange(where.ndim)])
    return wrap(np.where(where == places, on, off), on.dtype)


def _rows(array: NDArray[Any], count: int, on: NDArray[Any], off: NDArray[Any]) -> NDArray[Any]:
    """Rows taken from a table, the last one of which marks no place."""
    table = np.full((count + 1, count), off, on.dtype)
    np.fill_diagonal(table, on)
    return table.take(np.where((array >= 0) & (array < count), array, count), 0, mode="clip")


def _hot_values(on_value: Any, off_value: Any, dtype: Any) -> Any:
    given = {"on_value": on_value, "off_value": off_value}
    arrays = {
        name: array_of(value) if dtype is None else _hot(value, dtype, name)
        for name, value in given.items()
        if value is not None
    }
    found = [one.dtype for one in arrays.values()]
    wanted = as_dtype(dtype).numpy_dtype if dtype is not None else (found or [np.dtype(np.float32)])[0]
    if len(found) == 2 and found[0] != found[1]:
        raise TypeError(
            f"dtype {as_dtype(found[0])} of on_value does not match dtype {as_dtype(found[1])} of off_value"
        )
    on, off = (arrays.get(name, scalar_array(value, wanted)) for name, value in (("on_value", 1), ("off_value", 0)))
    return on, off


def _hot(value: Any, dtype: Any, name: str) -> Any:
    try:
        return array_of(value, dtype)
    except (TypeError, ValueError):
        raise TypeError(
            f"dtype {as_dtype(array_of(value).dtype)} of {name} does not match dtype parameter {as_dtype(dtype)}"
        ) from None


@op("array.sequence_mask")
def sequence_mask(lengths: Any, maxlen: Any = None, dtype: Any = "bool") -> Tensor:
    """Rows that are True up to a length."""
    array = array_of(lengths)
    allow(array, NUMBERS, "Range")
    count = math.ceil(array.max(initial=0)) if maxlen is None else int(maxlen)
    return Tensor((np.arange(count) < array[..., None]).astype(as_dtype(dtype).numpy_dtype))
