"""``mx.nd.NDArray``: a NumPy array with the methods and the arithmetic rules of MXNet's arrays."""

from __future__ import annotations

import numbers
import operator
from collections.abc import Iterator
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray as Array

from recordmill.allocator import keep_freed_memory
from recordmill.compat.mxnet.base import AbsentError, ParameterError
from recordmill.compat.mxnet.context import Context, cpu

# Operations allocate and free many arrays. These operations are faster if the C library keeps freed memory.
keep_freed_memory()

_COMPARISONS = {np.equal, np.not_equal, np.less, np.less_equal, np.greater, np.greater_equal}


class NDArray(np.ndarray[Any, Any]):
    """A NumPy array that keeps its dtype in arithmetic; comparisons return 0 or 1 in the same dtype.

    A single element is an array of shape (1,). NumPy's functions treat it as a plain array.
    """

    stype = "default"
    __hash__ = object.__hash__  # type: ignore[assignment]

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, out: Any = None, **options: Any) -> Any:
        """Compute a NumPy ufunc with MXNet's rules for dtypes."""
        if method != "__call__" or options:
            extra = options if out is None else options | {"out": _as_plain_arrays(out)}
            return _as_ndarrays(getattr(ufunc, method)(*_as_plain_arrays(inputs), **extra))
        dtype = _require_same_dtype(inputs)
        result = _compute_ufunc(ufunc, inputs, dtype)
        if out is None:
            return _as_ndarrays(result)
        np.copyto(_as_plain_arrays(out[0]), result, casting="same_kind" if dtype is None else "unsafe")
        return out[0]

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        """Call a NumPy function with plain arrays, and return its results as NDArrays."""
        del types
        return _as_ndarrays(func(*_as_plain_arrays(tuple(args)), **_as_plain_arrays(dict(kwargs))))

    def __getattr__(self, name: str) -> Any:
        """Raise AbsentError for an unsupported attribute. The hint of the error names a replacement."""
        if name.startswith("_"):
            raise AttributeError(f"'NDArray' object has no attribute {name!r}", name=name, obj=self)
        raise AbsentError(f"NDArray.{name} is not supported", found=name, hint="use NumPy's operation on .asnumpy()")

    def __getitem__(self, key: Any) -> Any:
        index = _as_integer_index(key)
        part = super().__getitem__(index)
        if isinstance(part, np.ndarray):
            return part
        with_ellipsis = (*index, ...) if isinstance(index, tuple) else (index, ...)
        return super().__getitem__(with_ellipsis).reshape(1)

    def __setitem__(self, key: Any, value: Any) -> None:
        """Assign `value` to elements of the array. An array of shape (1,) can be assigned to a single element."""
        values = _as_plain_arrays(value)
        if isinstance(values, np.ndarray) and values.shape == (1,):
            values = values.reshape(())  # NumPy deprecates assigning an array of shape (1,) to a single element.
        super().__setitem__(_as_integer_index(key), values)

    def __iter__(self) -> Iterator[Any]:
        return (self[row] for row in range(len(self)))

    def __int__(self) -> int:
        return int(self.item())

    def __float__(self) -> float:
        return float(self.item())

    def __index__(self) -> int:
        return operator.index(self.item())

    def __repr__(self) -> str:
        return f"\n{self.view(np.ndarray)}\n<NDArray {'x'.join(map(str, self.shape))} @{self.context}>"

    __str__ = __repr__

    def asnumpy(self) -> Array[Any]:
        """Return a plain NumPy array with a copy of the values."""
        return np.array(self, subok=False)

    def asscalar(self) -> Any:
        """Return the value of an array of one element."""
        if self.size != 1:
            raise ValueError("The current array is not a scalar")
        return np.asarray(self).reshape(-1)[0]

    @property
    def context(self) -> Context:
        """Context of the array, which is always ``mx.cpu()``."""
        return cpu()

    ctx = context

    def as_in_context(self, context: Context) -> Self:
        """Return the array itself, because all arrays are in host memory."""
        del context
        return self

    as_in_ctx = as_in_context

    def copyto(self, other: Any) -> Any:
        """Copy the values into another array, or return a copy if `other` is a context."""
        if isinstance(other, Context):
            return self.copy()
        if other.shape != self.shape:
            expected, found = str(other.shape), str(self.shape)
            raise ParameterError("copyto: shapes must be equal", kind="bad_shape", expected=expected, found=found)
        other[...] = self
        return other

    def wait_to_read(self) -> None:
        """Return immediately; operations are not asynchronous."""

    wait_to_write = wait_to_read


def as_ndarray(values: Any) -> NDArray:
    """View an array as NDArray without a copy."""
    return np.asarray(values).view(NDArray)


def _as_plain_arrays(values: Any) -> Any:
    """Convert NDArrays to plain NumPy arrays, also in lists, tuples and dicts."""
    if isinstance(values, np.ndarray):
        return values.view(np.ndarray)
    if type(values) in (list, tuple):
        return type(values)(_as_plain_arrays(one) for one in values)
    if type(values) is dict:
        return {name: _as_plain_arrays(one) for name, one in values.items()}
    return values


def _as_ndarrays(values: Any) -> Any:
    if type(values) in (list, tuple):
        return type(values)(_as_ndarrays(one) for one in values)
    return as_ndarray(values) if isinstance(values, np.ndarray | np.generic) else values


def _as_integer_index(key: Any) -> Any:
    """Convert float arrays in the key of an indexing operation to integers."""
    if isinstance(key, tuple):
        return tuple(_as_integer_index(one) for one in key)
    if isinstance(key, NDArray):
        values = key.view(np.ndarray)
        return values.astype(np.int64) if values.dtype.kind == "f" else values
    return key


def _require_same_dtype(inputs: tuple[Any, ...]) -> np.dtype[Any] | None:
    """Return the dtype of the NDArrays; raise ParameterError if their dtypes differ.

    Return None if a plain NumPy array has a different dtype than the NDArrays.
    """
    dtypes = {one.dtype for one in inputs if isinstance(one, NDArray)}
    if len(dtypes) > 1:
        found = " and ".join(sorted(map(str, dtypes)))
        raise ParameterError("arrays must have the same dtype", kind="bad_dtype", found=found, hint="use .astype(...)")
    return next(iter(dtypes)) if all(one.dtype in dtypes for one in inputs if isinstance(one, np.ndarray)) else None


def _compute_ufunc(ufunc: Any, inputs: tuple[Any, ...], dtype: np.dtype[Any] | None) -> Any:
    try:
        with np.errstate(all="ignore"):
            result = ufunc(*(_as_operand(one, dtype) for one in inputs))
            if dtype is None or isinstance(result, tuple):
                return result
            if result.dtype == np.bool_ and ufunc not in _COMPARISONS:
                return result
            if ufunc is np.true_divide and dtype.kind in "iu":
                result = np.trunc(result)
            return result.astype(dtype, copy=False)
    except ValueError as error:
        raise ParameterError(f"{ufunc.__name__}: {error}", kind="bad_shape") from error


def _as_operand(value: Any, dtype: np.dtype[Any] | None) -> Any:
    if isinstance(value, np.ndarray):
        return value.view(np.ndarray)
    if not isinstance(value, numbers.Number | np.generic):
        raise TypeError(f"type {type(value)} not supported")
    return value if dtype is None else np.asarray(value).astype(dtype)
