"""Results of decoders: `Tensor`, and `TensorBuffer` for arrays that may differ in shape."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from recordmill.compat.oneflow.records import Location
from recordmill.compat.oneflow.unsupported import check_device

DTYPES = {name: np.dtype(name) for name in ("int8", "uint8", "int32", "int64", "float32", "float64")}


def to_supported_dtype(dtype: Any) -> np.dtype[Any]:
    """Convert `dtype` to a NumPy dtype; raise TypeError if decoders do not support it."""
    found: np.dtype[Any] = np.dtype(dtype)
    if found not in DTYPES.values():
        raise TypeError(f"Cannot find the kernel: dtype must be one of {', '.join(DTYPES)}, got {dtype}")
    return found


class _CallableSize(int):
    """Number of values, like NumPy's ``array.size``. Calling it returns the shape, like OneFlow's ``tensor.size()``."""

    shape: tuple[int, ...]

    def __new__(cls, shape: tuple[int, ...]) -> Self:
        size = super().__new__(cls, math.prod(shape))
        size.shape = shape
        return size

    def __call__(self, dim: int | None = None) -> Any:
        return self.shape if dim is None else self.shape[dim]


def _create_dtype_method(dtype: str) -> Callable[[Any], Any]:
    return lambda tensor: tensor.astype(dtype)


class Tensor(np.ndarray[Any, np.dtype[Any]]):
    """A NumPy array with the methods of OneFlow tensors that input pipelines use."""

    def numpy(self) -> NDArray[Any]:
        """Return a plain NumPy array that shares the memory."""
        return np.asarray(self)

    def transpose(self, *axes: Any) -> Any:
        """Swap two axes if two integers are given, as in OneFlow; otherwise behave like `numpy.ndarray.transpose`."""
        if len(axes) == 2 and all(isinstance(axis, int) for axis in axes):
            return self.swapaxes(*axes)
        return super().transpose(*axes)

    permute = np.ndarray.transpose

    @property
    def size(self) -> Any:
        """Number of values. ``size()`` returns the shape, and ``size(dim)`` returns the length of axis `dim`."""
        return _CallableSize(self.shape)

    def numel(self) -> Any:
        """Return the number of values."""
        return int(self.size)

    def to(self, *targets: Any, device: Any = None, dtype: Any = None) -> Any:
        """Convert to a dtype; any device but the CPU raises NotImplementedError."""
        result: Any = self
        for target in (*targets, device, dtype):
            if isinstance(target, str):
                check_device(target)
            elif target is not None:
                result = result.astype(to_supported_dtype(target))
        return result

    def cuda(self, device: Any = None) -> Any:
        """Raise NotImplementedError, because tensors are on the CPU."""
        return self.to("cuda" if device is None else f"cuda:{device}")

    def cpu(self) -> Any:
        """Return the tensor itself."""
        return self

    detach = cpu

    def view(self, *shape: Any) -> Any:  # type: ignore[override]
        """Reshape to the given lengths; with a dtype or a class, behave like `numpy.ndarray.view`."""
        sizes = shape[0] if len(shape) == 1 and isinstance(shape[0], list | tuple) else shape
        if sizes and all(isinstance(size, int) for size in sizes):
            return self.reshape(sizes)
        return super().view(*shape)

    def unsqueeze(self, dim: int) -> Any:
        """Insert an axis of length 1."""
        return np.expand_dims(self, dim)

    float, double, long, int = map(_create_dtype_method, ("float32", "float64", "int64", "int32"))


def as_tensor(values: Any) -> Tensor:
    """View an array as `Tensor` without a copy."""
    return np.asarray(values).view(Tensor)


class TensorBuffer:
    """A batch of arrays that may differ in shape."""

    def __init__(self, arrays: list[NDArray[Any]], locations: Sequence[Location]) -> None:
        self._arrays, self.locations = arrays, locations

    @property
    def shape(self) -> tuple[int]:
        """Shape of the batch: a tuple that contains the number of arrays."""
        return (len(self),)

    def numpy(self) -> list[NDArray[Any]]:
        """Return the arrays in a list, even if all have the same shape."""
        return list(self._arrays)

    def __len__(self) -> int:
        return len(self.locations)

    def __getitem__(self, position: int) -> TensorBuffer:
        """Return a batch that contains only the array at this position."""
        return TensorBuffer([self.numpy()[position]], [self.locations[position]])

    def __repr__(self) -> str:
        return f"TensorBuffer({', '.join(str(array.shape) for array in self.numpy())})"
