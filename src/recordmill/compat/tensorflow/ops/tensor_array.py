"""``tf.TensorArray``: a list of tensors that loops write to."""

from __future__ import annotations

from typing import Any

import numpy as np

from recordmill.compat.tensorflow.core.arrays import array_of
from recordmill.compat.tensorflow.core.dispatch import call_operation
from recordmill.compat.tensorflow.core.dtypes import as_dtype
from recordmill.compat.tensorflow.core.errors import InvalidArgumentError, OutOfRangeError
from recordmill.compat.tensorflow.core.operators import TensorOperators
from recordmill.compat.tensorflow.core.shapes import TensorShape
from recordmill.compat.tensorflow.core.tensor import Tensor, as_tensor, wrap


class TensorArray:
    """``tf.TensorArray``: tensors of one dtype, which are written and read by index."""

    def __init__(
        self,
        dtype: Any,
        size: Any = None,
        dynamic_size: bool | None = None,
        clear_after_read: bool | None = None,
        *,
        infer_shape: bool = True,
        element_shape: Any = None,
        **hints: Any,
    ) -> None:
        del hints
        self.dtype = as_dtype(dtype)
        self.dynamic_size = bool(dynamic_size)
        self._clears = clear_after_read is not False
        self._infers = infer_shape
        self._shape = TensorShape(element_shape)
        self._tensors: list[Any] = [None] * (0 if size is None else int(array_of(size)))
        self._cleared: set[int] = set()

    @property
    def element_shape(self) -> TensorShape:
        """Shape of the tensors; unknown lengths are None."""
        return self._shape

    def identity(self) -> TensorArray:
        """Return the array itself."""
        return self

    def write(self, index: Any, value: Any, name: str | None = None) -> TensorArray:
        """Write a tensor at `index`."""
        del name
        position, size = int(index), len(self._tensors)
        if position < 0 or (position >= size and not self.dynamic_size):
            raise OutOfRangeError(f"index must be in [0, {size}), got {position}")
        self._tensors += [None] * (position + 1 - size)
        self._tensors[position] = self._convert_element(value)
        self._cleared.discard(position)
        return self

    def _convert_element(self, value: Any) -> Any:
        if isinstance(value, TensorOperators) and not isinstance(value, Tensor):
            # The dtype and shape of a symbolic tensor may be unknown.
            return value
        tensor = as_tensor(value, None if isinstance(value, Tensor) else self.dtype)
        if tensor.dtype != self.dtype:
            raise InvalidArgumentError(f"expected a tensor of dtype {self.dtype.name}, got {tensor.dtype.name}")
        if not self._shape.is_compatible_with(tensor.shape):
            raise ValueError(f"expected a tensor of shape {self._shape}, got {tensor.shape}")
        if self._infers:
            self._shape = tensor.shape
        return tensor

    def read(self, index: Any, name: str | None = None) -> Any:
        """Read the tensor at `index`; with `clear_after_read`, each tensor can be read only once."""
        del name
        position = int(index)
        if not 0 <= position < len(self._tensors):
            raise OutOfRangeError(f"index must be in [0, {len(self._tensors)}), got {position}")
        if position in self._cleared:
            raise InvalidArgumentError(
                f"tensor {position} has already been read: set clear_after_read=False to read it again"
            )
        if self._clears:
            self._cleared.add(position)
        return self._get_tensor(position)

    def _get_tensor(self, position: int) -> Any:
        if self._tensors[position] is not None:
            return self._tensors[position]
        lengths = self._shape.as_list() if self._shape.rank is not None else [None]
        if None in lengths:
            raise InvalidArgumentError(f"tensor {position} has not been written, and element_shape is not known")
        return Tensor(np.zeros([one or 0 for one in lengths], self.dtype.numpy_dtype))

    def _get_all_tensors(self) -> list[Any]:
        return [self._get_tensor(position) for position in range(len(self._tensors))]

    def stack(self, name: str | None = None) -> Any:
        """Stack all tensors along a new first axis."""
        del name
        if not self._tensors:
            lengths = self._shape.as_list() if self._shape.rank is not None else []
            return Tensor(np.zeros([0, *(one or 0 for one in lengths)], self.dtype.numpy_dtype))
        return call_operation("array.stack", self._get_all_tensors())

    def gather(self, indices: Any, name: str | None = None) -> Any:
        """Stack the tensors with the given indices."""
        del name
        return call_operation("array.stack", [self._get_tensor(int(position)) for position in array_of(indices)])

    def concat(self, name: str | None = None) -> Any:
        """Join all tensors along their first axis."""
        del name
        return call_operation("array.concat", self._get_all_tensors(), 0)

    def unstack(self, value: Any, name: str | None = None) -> TensorArray:
        """Replace all tensors by the rows of `value`."""
        del name
        rows = list(self._to_rows(value))
        if len(rows) != len(self._tensors) and not self.dynamic_size and self._tensors:
            raise ValueError(f"value must have one row per tensor of the array ({len(self._tensors)}), got {len(rows)}")
        self._tensors, self._cleared = [self._convert_element(row) for row in rows], set()
        return self

    def scatter(self, indices: Any, value: Any, name: str | None = None) -> TensorArray:
        """Write the rows of a tensor to the given indices."""
        del name
        for position, row in zip(array_of(indices).tolist(), self._to_rows(value), strict=True):
            self.write(position, row)
        return self

    def split(self, value: Any, lengths: Any, name: str | None = None) -> TensorArray:
        """Replace all tensors by consecutive slices of `value`; `lengths` gives the number of rows of each slice."""
        del name
        rows, counts = self._to_rows(value), array_of(lengths).tolist()
        ends = np.cumsum(counts).tolist()
        self._infers = False
        self._tensors = [rows[end - count : end] for end, count in zip(ends, counts, strict=True)]
        self._cleared = set()
        return self

    def _to_rows(self, value: Any) -> Any:
        return value if isinstance(value, TensorOperators) else as_tensor(value, self.dtype)

    def size(self, name: str | None = None) -> Tensor:
        """Return the number of tensors, as int32."""
        del name
        return wrap(np.int32(len(self._tensors)))

    def close(self, name: str | None = None) -> None:
        """Release the tensors."""
        del name
        self._tensors = []
