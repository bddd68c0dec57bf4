"""Vectors of byte strings, which are stored in one buffer until Python objects are needed."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from recordmill.compat.tensorflow.core import dtypes
from recordmill.compat.tensorflow.core.dtypes import DType
from recordmill.compat.tensorflow.core.shapes import TensorShape
from recordmill.compat.tensorflow.core.tensor import Tensor
from recordmill.types import Ragged


class StringVector(Tensor):
    """Tensor of byte strings in one buffer; on first use, an array of bytes objects replaces the buffer."""

    __slots__ = ("_buffer", "_length")

    def __init__(self, buffer: Ragged) -> None:
        self._buffer: Ragged | None = buffer
        self._length = len(buffer)

    def __getattr__(self, name: str) -> Any:
        if name != "_values":
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        buffer = self._buffer
        if buffer is not None:
            self._values, self._buffer = to_bytes_array(buffer), None
        return object.__getattribute__(self, "_values")

    @property
    def buffer(self) -> Ragged | None:
        """The buffer with all byte strings; None if the strings were already converted to an array of bytes objects."""
        return self._buffer

    @property
    def dtype(self) -> DType:
        """Dtype of the elements, which is ``tf.string``."""
        return dtypes.string

    @property
    def shape(self) -> TensorShape:
        """Shape of the vector: one axis, whose length is the number of strings."""
        return TensorShape((self._length,))

    @property
    def ndim(self) -> int:
        """Number of axes, which is 1."""
        return 1

    def __len__(self) -> int:
        return self._length


def to_bytes_array(rows: Ragged) -> NDArray[Any]:
    """Convert byte strings in one buffer to an array of bytes objects."""
    return np.fromiter(rows, object, len(rows))
