"""Vectors of byte strings that share one buffer until their objects are needed."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from recordmill.compat.tensorflow.core import dtypes
from recordmill.compat.tensorflow.core.dtypes import DType
from recordmill.compat.tensorflow.core.shapes import TensorShape
from recordmill.compat.tensorflow.core.tensor import Tensor
from recordmill.types import Ragged


class Rows(Tensor):
    """Tensor of byte strings that creates its array of objects on first use and then drops the buffer."""

    __slots__ = ("_length", "_rows")

    def __init__(self, rows: Ragged) -> None:
        self._rows: Ragged | None = rows
        self._length = len(rows)

    def __getattr__(self, name: str) -> Any:
        if name != "_values":
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        rows = self._rows
        if rows is not None:
            self._values, self._rows = strings_of(rows), None
        return object.__getattribute__(self, "_values")

    @property
    def rows(self) -> Ragged | None:
        """The buffer; None once the objects exist."""
        return self._rows

    @property
    def dtype(self) -> DType:
        """The dtype of byte strings."""
        return dtypes.string

    @property
    def shape(self) -> TensorShape:
        """Number of strings."""
        return TensorShape((self._length,))

    @property
    def ndim(self) -> int:
        """One axis."""
        return 1

    def __len__(self) -> int:
        return self._length


def strings_of(rows: Ragged) -> NDArray[Any]:
    """Return byte strings as an array of objects."""
    return np.fromiter(rows, object, len(rows))
