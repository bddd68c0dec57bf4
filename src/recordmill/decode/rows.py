"""Byte strings that lie one behind another, as a sequence whose views are made when they are asked for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from recordmill.types import Ragged


class ByteRows(Sequence[memoryview]):
    """Rows of a Ragged of bytes.

    Parameters
    ----------
    column : Ragged of uint8

    Attributes
    ----------
    data : ndarray of uint8, shape (n,)
    splits : ndarray of int64, shape (count + 1,)
    """

    __slots__ = ("data", "splits")

    def __init__(self, column: Ragged) -> None:
        self.data: NDArray[np.uint8] = np.ascontiguousarray(column.data)
        self.splits: NDArray[np.int64] = np.ascontiguousarray(column.row_splits, np.int64)

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.splits) - 1

    @overload
    def __getitem__(self, row: int) -> memoryview: ...
    @overload
    def __getitem__(self, row: slice) -> list[memoryview]: ...

    def __getitem__(self, row: Any) -> Any:
        """View one row; a list of views for a slice."""
        if isinstance(row, slice):
            return list(self)[row]
        place = range(len(self))[row]
        return self.data.data[self.splits[place] : self.splits[place + 1]]

    def __iter__(self) -> Iterator[memoryview]:
        """View the rows one after another."""
        data = self.data.data
        return (data[start:stop] for start, stop in pairwise(self.splits.tolist()))
