"""``mx.nd.NDArray``: a NumPy array that answers to the names, and follows the rules, of MXNet's."""

from __future__ import annotations

import operator
from collections.abc import Iterator
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray as Array

from recordmill.allocator import keep_freed_memory
from recordmill.compat.mxnet.absent import AbsentError
from recordmill.compat.mxnet.base import ParameterError, UnsupportedError
from recordmill.compat.mxnet.context import Context, cpu
from recordmill.compat.mxnet.nd.arithmetic import apply, plain

# Each operation makes an array, and lets go of some.
keep_freed_memory()


class NDArray(np.ndarray[Any, Any]):
    """A NumPy array with `asnumpy` and its kin.

    One value of it is an array of one. Arithmetic keeps its dtype, comparisons give ones and zeros of it. Functions of
    NumPy take it as an array of their own.
    """

    stype = "default"
    __hash__ = object.__hash__  # type: ignore[assignment]

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, out: Any = None, **options: Any) -> Any:
        """Arithmetic by MXNet's rules."""
        if method != "__call__" or options:
            extra = options if out is None else options | {"out": plain(out)}
            return _wrapped(getattr(ufunc, method)(*plain(inputs), **extra))
        if out is not None:
            apply(ufunc, inputs, _kind_of(inputs), plain(out[0]))
            return out[0]
        return _wrapped(apply(ufunc, inputs, _kind_of(inputs)))

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        """Functions of NumPy, by NumPy's rules."""
        del types
        return _wrapped(func(*plain(tuple(args)), **plain(dict(kwargs))))

    def __getattr__(self, name: str) -> Any:
        """Refuse operations of MXNet's arrays that are not here."""
        if name.startswith("_"):
            raise AttributeError(f"'NDArray' object has no attribute {name!r}", name=name, obj=self)
        message, hint = f"NDArray.{name} is not supported", "use NumPy's operation on .asnumpy()"
        raise AbsentError(message, kind="unsupported", found=name, hint=hint)

    def __getitem__(self, key: Any) -> Any:
        """Part of the array; a single value is an array of shape (1,) over the same memory, as in MXNet."""
        place = _index(key)
        part = super().__getitem__(place)
        if isinstance(part, np.ndarray):
            return part
        whole = (*place, ...) if isinstance(place, tuple) else (place, ...)
        return super().__getitem__(whole).reshape(1)

    def __setitem__(self, key: Any, value: Any) -> None:
        """Change a part of the array."""
        values = plain(value)
        if isinstance(values, np.ndarray) and values.shape == (1,):
            values = values.reshape(())  # which NumPy puts into one element, too
        super().__setitem__(_index(key), values)

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

    def __repr__(self) -> str:
        """As MXNet prints it."""
        return f"\n{self.view(np.ndarray)}\n<NDArray {'x'.join(map(str, self.shape))} @{self.context}>"

    __str__ = __repr__

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

    def tostype(self, stype: str) -> Self:
        """Return the array itself: there are no sparse ones."""
        if stype != "default":
            raise UnsupportedError(f"stype {stype!r} is not supported", kind="unsupported", expected="default")
        return self

    def as_nd_ndarray(self) -> Self:
        """Return the array itself."""
        return self

    detach = as_nd_ndarray

    def copyto(self, other: Any) -> Any:
        """Put the values into another array; a device gives a copy."""
        if isinstance(other, Context):
            return self.copy()
        if other.shape != self.shape:
            message = "copyto: the arrays differ in shape"
            raise ParameterError(message, kind="bad_shape", expected=str(other.shape), found=str(self.shape))
        other[...] = self
        return other

    def wait_to_read(self) -> None:
        """Return at once: values are there when an array is."""

    wait_to_write = wait_to_read


def _kind_of(inputs: tuple[Any, ...]) -> np.dtype[Any] | None:
    """Dtype of all arrays; None where arrays of NumPy's own have another one."""
    kinds = {one.dtype for one in inputs if isinstance(one, NDArray)}
    if len(kinds) > 1:
        found = " and ".join(sorted(map(str, kinds)))
        message = "Incompatible attr: the arrays differ in dtype"
        raise ParameterError(message, kind="bad_dtype", found=found, hint="make one of them the other's: .astype(...)")
    return next(iter(kinds)) if all(one.dtype in kinds for one in inputs if isinstance(one, np.ndarray)) else None


def _index(key: Any) -> Any:
    """Index whose arrays are whole numbers."""
    if isinstance(key, tuple):
        return tuple(_index(one) for one in key)
    if isinstance(key, NDArray):
        values = key.view(np.ndarray)
        return values.astype(np.int64) if values.dtype.kind == "f" else values
    return key


def _wrapped(found: Any) -> Any:
    if type(found) is tuple or type(found) is list:
        return type(found)(_wrapped(one) for one in found)
    return wrap(found) if isinstance(found, np.ndarray | np.generic) else found


def wrap(values: Any) -> NDArray:
    """Make an array answer to MXNet's names, without a copy."""
    return np.asarray(values).view(NDArray)
