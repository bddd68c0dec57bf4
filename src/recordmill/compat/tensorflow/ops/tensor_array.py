"""``tf.TensorArray``: tensors by number, as loops write them."""

from __future__ import annotations

from typing import Any

import numpy as np

from recordmill.compat.tensorflow.core.arrays import array_of
from recordmill.compat.tensorflow.core.dispatch import run
from recordmill.compat.tensorflow.core.dtypes import as_dtype
from recordmill.compat.tensorflow.core.errors import InvalidArgumentError, OutOfRangeError
from recordmill.compat.tensorflow.core.operators import Operators
from recordmill.compat.tensorflow.core.shapes import TensorShape
from recordmill.compat.tensorflow.core.tensor import Tensor, as_tensor, wrap


class TensorArray:
    """Tensors of one dtype, each written and read by its number."""

    def __init__(
        self,
        dtype: Any,
        size: Any = None,
        dynamic_size: bool | None = None,
        clear_after_read: bool | None = None,
        tensor_array_name: str | None = None,
        handle: Any = None,
        flow: Any = None,
        infer_shape: bool = True,
        element_shape: Any = None,
        colocate_with_first_write_call: bool = True,
        name: str | None = None,
    ) -> None:
        del tensor_array_name, handle, flow, colocate_with_first_write_call, name
        self.dtype = as_dtype(dtype)
        self.dynamic_size = bool(dynamic_size)
        self._clears = clear_after_read is not False
        self._infers = infer_shape
        self._shape = TensorShape(element_shape)
        self._parts: list[Any] = [None] * (0 if size is None else int(array_of(size)))
        self._read: set[int] = set()

    @property
    def element_shape(self) -> TensorShape:
        """What is known of every tensor's shape."""
        return self._shape

    def identity(self) -> TensorArray:
        """The same array."""
        return self

    def write(self, index: Any, value: Any, name: str | None = None) -> TensorArray:
        """Write a tensor."""
        del name
        place = int(index)
        if place < 0:
            raise OutOfRangeError(f"Writing to negative indices (index {place}) is not allowed.")
        if place >= len(self._parts):
            if not self.dynamic_size:
                raise OutOfRangeError(
                    f"Tried to write to index {place} but array is not resizeable and size is: {len(self._parts)}"
                )
            self._parts += [None] * (place + 1 - len(self._parts))
        self._parts[place] = self._checked(value)
        self._read.discard(place)
        return self

    def _checked(self, value: Any) -> Any:
        """A tensor of the dtype and shape; of a value that is being noted neither is known yet."""
        if isinstance(value, Operators) and not isinstance(value, Tensor):
            return value
        tensor = as_tensor(value, None if isinstance(value, Tensor) else self.dtype)
        if tensor.dtype != self.dtype:
            raise InvalidArgumentError(
                f"TensorArray dtype is {self.dtype.name} but Op is trying to write dtype {tensor.dtype.name} "
            )
        if not self._shape.is_compatible_with(tensor.shape):
            raise ValueError(f"Incompatible shape for value ({tensor.shape}), expected ({self._shape})")
        if self._infers:
            self._shape = tensor.shape
        return tensor

    def read(self, index: Any, name: str | None = None) -> Any:
        """Read a tensor."""
        del name
        place = int(index)
        if not 0 <= place < len(self._parts):
            raise OutOfRangeError(f"Tried to read from index {place} but array size is: {len(self._parts)} ")
        if place in self._read:
            raise InvalidArgumentError(
                f"Could not read index {place} twice because it was cleared after a previous read (perhaps try setting "
                "clear_after_read = false?)"
            )
        if self._clears:
            self._read.add(place)
        return self._part(place)

    def _part(self, place: int) -> Any:
        if self._parts[place] is None:
            lengths: list[Any] = [*self._shape.as_list()] if self._shape.rank is not None else [None]
            if None in lengths:
                raise InvalidArgumentError(
                    f"Could not read index {place} because nothing was written there, and the shape is not known"
                )
            return Tensor(np.zeros(lengths, self.dtype.numpy_dtype))
        return self._parts[place]

    def stack(self, name: str | None = None) -> Any:
        """All tensors in one, along a new first axis."""
        del name
        if not self._parts:
            return Tensor(np.zeros([0, *(one or 0 for one in self._lengths())], self.dtype.numpy_dtype))
        return run("array.stack", [self._part(place) for place in range(len(self._parts))])

    def _lengths(self) -> list[Any]:
        return self._shape.as_list() if self._shape.rank is not None else []

    def gather(self, indices: Any, name: str | None = None) -> Any:
        """Tensors of these numbers in one, along a new first axis."""
        del name
        return run("array.stack", [self._part(int(place)) for place in array_of(indices)])

    def concat(self, name: str | None = None) -> Any:
        """All tensors one behind the other, along their first axis."""
        del name
        return run("array.concat", [self._part(place) for place in range(len(self._parts))], 0)

    def unstack(self, value: Any, name: str | None = None) -> TensorArray:
        """Write the rows of a tensor."""
        del name
        given: Any = value if isinstance(value, Operators) else as_tensor(value, self.dtype)
        rows = list(given)
        if len(rows) != len(self._parts) and not self.dynamic_size and self._parts:
            raise ValueError(f"Cannot unstack {len(rows)} values into a TensorArray of static size {len(self._parts)}.")
        self._parts, self._read = [self._checked(row) for row in rows], set()
        return self

    def scatter(self, indices: Any, value: Any, name: str | None = None) -> TensorArray:
        """Write the rows of a tensor at these numbers."""
        del name
        rows: Any = value if isinstance(value, Operators) else as_tensor(value, self.dtype)
        for place, row in zip(array_of(indices).tolist(), rows, strict=True):
            self.write(place, row)
        return self

    def split(self, value: Any, lengths: Any, name: str | None = None) -> TensorArray:
        """Write parts of a tensor, which have so many rows each."""
        del name
        rows: Any = value if isinstance(value, Operators) else as_tensor(value, self.dtype)
        ends = np.cumsum(array_of(lengths)).tolist()
        self._infers = False
        self._parts = [rows[end - count : end] for end, count in zip(ends, array_of(lengths).tolist(), strict=True)]
        self._read = set()
        return self

    def size(self, name: str | None = None) -> Tensor:
        """Number of tensors; int32."""
        del name
        return wrap(np.int32(len(self._parts)))

    def close(self, name: str | None = None) -> None:
        """Let go of the tensors."""
        del name
        self._parts = []
