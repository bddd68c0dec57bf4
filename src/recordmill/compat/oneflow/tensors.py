"""What readers and decoders give: records, numbers, and pictures of several sizes."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import field
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

import recordmill as rm
from recordmill.compat.oneflow.dtypes import OpaqueType, number_type, of_record, tensor_buffer
from recordmill.dataclass import dataclass
from recordmill.types import Ragged


@dataclass(frozen=True, slots=True)
class Place:
    """Where a record of a batch comes from."""

    shard: str
    record: int
    offset: int


@dataclass(frozen=True, eq=False, slots=True)
class Records:
    """A batch of records; decoders are called with it."""

    payloads: Ragged
    places: Sequence[Place]
    wanted: dict[str, rm.Feature] = field(default_factory=dict)
    parsed: dict[str, tuple[rm.Feature, Ragged]] = field(default_factory=dict)

    @property
    def dtype(self) -> OpaqueType:
        """``oneflow.of_record``."""
        return of_record

    @property
    def shape(self) -> tuple[int]:
        """Number of records."""
        return (len(self.payloads),)

    def __len__(self) -> int:
        """Return the number of records."""
        return len(self.payloads)


class _Size(int):
    """Number of values for NumPy, and OneFlow's method at once."""

    shape: tuple[int, ...]

    def __new__(cls, shape: tuple[int, ...]) -> Self:
        made = super().__new__(cls, math.prod(shape))
        made.shape = shape
        return made

    def __call__(self, dim: int | None = None) -> Any:
        return self.shape if dim is None else self.shape[dim]


class _TensorType(type):
    """What says that it stands for a tensor is an instance too."""

    def __instancecheck__(cls, instance: object) -> bool:
        return super().__instancecheck__(instance) or getattr(type(instance), "stands_for_tensor", False)


class Tensor(np.ndarray[Any, np.dtype[Any]], metaclass=_TensorType):
    """An array that has OneFlow's way to ask for one."""

    def numpy(self) -> NDArray[Any]:
        """Values as a plain array."""
        return np.asarray(self)

    def transpose(self, *axes: Any) -> Any:
        """Swap two axes, as OneFlow does; otherwise NumPy's."""
        if len(axes) == 2 and all(isinstance(axis, int) for axis in axes):
            return self.swapaxes(*axes)
        return super().transpose(*axes)

    def permute(self, *dims: Any) -> Any:
        """Axes in another order."""
        return super().transpose(*dims)

    @property
    def size(self) -> Any:
        """Number of values; called, the shape, or the length of one axis."""
        return _Size(self.shape)

    def to(self, *wanted: Any, device: Any = None, dtype: Any = None) -> Any:
        """Values of another dtype; ``"cpu"`` is where they are."""
        made: Any = self
        for one in (*wanted, *(given for given in (device, dtype) if given is not None)):
            if not isinstance(one, str):
                made = made.astype(number_type(one))
            elif one.partition(":")[0] != "cpu":
                raise NotImplementedError(f"device {one!r} is not supported: hand the array to your framework")
        return made

    def view(self, *shape: Any) -> Any:  # type: ignore[override]
        """Values in another shape; with a dtype or a class, NumPy's."""
        sizes = shape[0] if len(shape) == 1 and isinstance(shape[0], list | tuple) else shape
        if sizes and all(isinstance(size, int) for size in sizes):
            return self.reshape(sizes)
        return super().view(*shape)

    def unsqueeze(self, dim: int) -> Any:
        """Add an axis of length 1."""
        return np.expand_dims(self, dim)

    def dim(self) -> int:
        """Number of axes."""
        return self.ndim

    ndimension = dim

    def type(self, dtype: Any) -> Any:
        """Values of another dtype."""
        return self.to(dtype)

    def clone(self) -> Any:
        """Array of its own with the same values."""
        return self.copy()

    def cuda(self, device: Any = None) -> Any:
        """Refuse: there is no other memory."""
        return self.to("cuda" if device is None else f"cuda:{device}")

    @property
    def is_cuda(self) -> bool:
        """False."""
        return False

    def cpu(self) -> Any:
        """Return the array itself."""
        return self

    detach = cpu

    def float(self) -> Any:
        """Values as float32."""
        return self.astype(np.float32)

    def long(self) -> Any:
        """Values as int64."""
        return self.astype(np.int64)

    def int(self) -> Any:
        """Values as int32."""
        return self.astype(np.int32)

    def double(self) -> Any:
        """Values as float64."""
        return self.astype(np.float64)

    def numel(self) -> Any:
        """Number of values."""
        return int(self.size)


def tensor_of(values: Any) -> Tensor:
    """Wrap an array without a copy."""
    return np.asarray(values).view(Tensor)


class TensorBuffer:
    """A batch of arrays that may differ in shape."""

    __slots__ = ("_arrays", "places")

    def __init__(self, arrays: list[NDArray[Any]], places: Sequence[Place]) -> None:
        self._arrays, self.places = arrays, places

    @property
    def dtype(self) -> OpaqueType:
        """``oneflow.tensor_buffer``."""
        return tensor_buffer

    @property
    def shape(self) -> tuple[int]:
        """Number of arrays."""
        return (len(self._arrays),)

    def numpy(self) -> list[NDArray[Any]]:
        """Arrays in a list, also if all have one shape."""
        return list(self._arrays)

    def __len__(self) -> int:
        """Return the number of arrays."""
        return len(self._arrays)

    def __getitem__(self, place: int) -> TensorBuffer:
        """One array, still as a batch."""
        position = range(len(self._arrays))[place]
        return TensorBuffer([self._arrays[position]], [self.places[position]])

    def __iter__(self) -> Iterator[TensorBuffer]:
        """Arrays, each as a batch."""
        return (self[place] for place in range(len(self)))

    def __repr__(self) -> str:
        """Shapes of the arrays."""
        return f"TensorBuffer({', '.join(str(array.shape) for array in self._arrays)})"


def tensor_buffer_to_tensor(x: TensorBuffer, dtype: Any, instance_shape: Sequence[int]) -> Tensor:
    """Arrays of one shape as one array."""
    shape, kind = tuple(instance_shape), number_type(dtype)
    for position, array in enumerate(x.numpy()):
        if array.shape != shape or array.dtype != kind:
            raise ValueError(
                f"array {position} of the tensor buffer is {array.dtype} of shape {array.shape}, not {kind} of {shape}"
            )
    return tensor_of(np.stack(x.numpy()) if len(x) else np.empty((0, *shape), kind))
