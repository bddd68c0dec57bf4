"""``mx.nd``: NumPy arrays that answer to the names which programs use of MXNet's NDArray."""

from __future__ import annotations

import operator
from collections.abc import Iterator, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray as Array

from recordmill.compat.mxnet.context import Context, cpu

__all__ = ["NDArray", "array", "concat", "empty", "ones", "stack", "transpose", "zeros"]


class NDArray(np.ndarray[Any, Any]):
    """A NumPy array with `asnumpy` and its kin; one value of it is an array of one, everything else is NumPy's."""

    def __getitem__(self, key: Any) -> Any:
        """Part of the array; a single value is an array of shape (1,), as in MXNet."""
        part = super().__getitem__(key)
        return part if isinstance(part, np.ndarray) else wrap(part).reshape(1)

    def __iter__(self) -> Iterator[Any]:
        """Rows, or values as arrays of shape (1,)."""
        return (self[place] for place in range(len(self)))

    def __int__(self) -> int:
        """Value of an array of one element."""
        return int(self.item())

    def __float__(self) -> float:
        """Value of an array of one element."""
        return float(self.item())

    def __index__(self) -> int:
        """Value of an array of one whole number."""
        return operator.index(self.item())

    def asnumpy(self) -> Array[Any]:
        """Values as a plain array of their own."""
        return np.array(self, subok=False)

    def asscalar(self) -> Any:
        """Value of an array of one element."""
        if self.size != 1:
            raise ValueError("The current array is not a scalar")
        return np.asarray(self).reshape(-1)[0]

    @property
    def context(self) -> Context:
        """Host memory."""
        return cpu()

    ctx = context

    def as_in_context(self, context: Context) -> Self:
        """Return the array itself: there is no other memory."""
        del context
        return self

    as_in_ctx = as_in_context

    def copyto(self, other: Any) -> Any:
        """Put the values into another array; a device gives a copy."""
        if isinstance(other, Context):
            return self.copy()
        other[...] = self
        return other

    def expand_dims(self, axis: int) -> Any:
        """Add an axis of length 1."""
        return np.expand_dims(self, axis)

    def flip(self, axis: int) -> Any:
        """Reverse an axis."""
        return np.flip(self, axis)

    def wait_to_read(self) -> None:
        """Return at once: values are there when an array is."""

    wait_to_write = wait_to_read


def wrap(values: Any) -> NDArray:
    """Make an array answer to MXNet's names, without a copy.

    Parameters
    ----------
    values : array_like

    Returns
    -------
    NDArray
    """
    return np.asarray(values).view(NDArray)


def array(source_array: Any, ctx: Context | None = None, dtype: Any = None) -> NDArray:
    """Array of given values.

    Parameters
    ----------
    source_array : array_like
    ctx : Context, optional
    dtype : dtype, optional
        That of an NDArray; float32 for anything else.

    Returns
    -------
    NDArray
    """
    del ctx
    if dtype is None:
        dtype = source_array.dtype if isinstance(source_array, NDArray) else np.float32
    return wrap(np.array(source_array, dtype, subok=False))


def zeros(shape: int | Sequence[int], ctx: Context | None = None, dtype: Any = None) -> NDArray:
    """Array of zeros; float32 by default."""
    del ctx
    return wrap(np.zeros(shape, dtype or np.float32))


def ones(shape: int | Sequence[int], ctx: Context | None = None, dtype: Any = None) -> NDArray:
    """Array of ones; float32 by default."""
    del ctx
    return wrap(np.ones(shape, dtype or np.float32))


def empty(shape: int | Sequence[int], ctx: Context | None = None, dtype: Any = None) -> NDArray:
    """Array of a shape, of zeros; float32 by default."""
    return zeros(shape, ctx, dtype)


def concat(*data: Any, dim: int = 1) -> NDArray:
    """Arrays behind one another along an axis."""
    return wrap(np.concatenate(data, axis=dim))


def transpose(data: Any, axes: Sequence[int] | None = None) -> NDArray:
    """Array with its axes in another order, the reverse one by default."""
    return wrap(np.transpose(data, axes or None))


def stack(*data: Any, axis: int = 0) -> NDArray:
    """Arrays side by side along a new axis."""
    return wrap(np.stack(data, axis=axis))
