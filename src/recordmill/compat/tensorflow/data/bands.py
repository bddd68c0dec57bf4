"""A few samples after the other, so that what is made of them on the way stays in the processor's cache."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

import recordmill as rm
from recordmill.compat.tensorflow.core.rows import Rows
from recordmill.compat.tensorflow.core.tensor import Tensor
from recordmill.compat.tensorflow.data.records import Column
from recordmill.compat.tensorflow.data.rules import Whole, WholeRows
from recordmill.compat.tensorflow.data.stacking import alike
from recordmill.compat.tensorflow.data.structures import row_of

# Bytes of one value of all samples that are done together, about.
_HELD = 4 << 20
# Samples that are done together before it is known how large they become.
_FIRST = 4


class Band:
    """How many samples are done together: what the last ones took tells."""

    def __init__(self) -> None:
        self._size = _FIRST

    def bounds(self, count: int) -> Iterator[tuple[int, int]]:
        """First sample, and the one behind the last, of each band."""
        start = 0
        while start < count:
            stop = min(start + self._size, count)
            yield start, stop
            start = stop

    def note(self, columns: Iterable[Column], count: int) -> None:
        """Look at what so many samples took."""
        largest = max((_num_bytes(column) for column in columns), default=0)
        self._size = max(_HELD * count // max(largest, 1), 1)


def _num_bytes(column: Column) -> int:
    if isinstance(column, Whole):
        return 0 if isinstance(column, WholeRows) else column.array.nbytes
    return sum(row.values.nbytes for row in column if type(row) is Tensor)


def part_of(column: Column, start: int, stop: int) -> Column:
    """Some samples of a column."""
    if isinstance(column, WholeRows):
        rows = column.tensor.rows
        return Whole(column.array[start:stop]) if rows is None else WholeRows(Rows(rows[start:stop]))
    return Whole(column.array[start:stop]) if isinstance(column, Whole) else column[start:stop]


def rows_of(column: Column, count: int) -> list[Any]:
    """Values of a column, sample by sample."""
    return [row_of(column.array, row) for row in range(count)] if isinstance(column, Whole) else column


class Gathered:
    """A column that comes in parts."""

    def __init__(self, count: int, memory: rm.Memory) -> None:
        self._count, self._done, self._memory = count, 0, memory
        self._whole: NDArray[Any] | None = None
        self._rows: list[Any] | None = None
        self._lent: NDArray[Any] | None = None

    def add(self, column: Column, count: int) -> None:
        """Take the next part."""
        if self._rows is None:
            arrays = _arrays(column)
            if arrays is not None and self._fits(arrays):
                self._done += count
                return
            self._rows = [] if self._whole is None else rows_of(Whole(self._whole[: self._done]), self._done)
        self._rows += rows_of(column, count)

    def room(self, shape: tuple[int, ...], dtype: Any) -> NDArray[Any]:
        """Array for the next part, which lies where it is to go if it is like those before it."""
        stop = self._done + shape[0]
        if self._whole is None and self._rows is None:
            self._whole = self._memory.empty((self._count, *shape[1:]), dtype)
        whole = self._whole
        if self._rows is not None or whole is None or whole.shape[1:] != shape[1:] or whole.dtype != dtype:
            return np.empty(shape, dtype)
        self._lent = whole[self._done : stop]
        return self._lent

    def column(self) -> Column:
        """Samples of all parts: an array if they are alike."""
        return Whole(self._whole) if self._rows is None and self._whole is not None else self._rows or []

    def _fits(self, arrays: Sequence[NDArray[Any]] | NDArray[Any]) -> bool:
        """Whether samples are like those before them, and put with them."""
        first, whole = arrays[0], self._whole
        if whole is None:
            if isinstance(arrays, np.ndarray) and len(arrays) == self._count:
                self._whole = arrays
                return True
            whole = self._whole = self._memory.empty((self._count, *first.shape), first.dtype)
        if whole.shape[1:] != first.shape or whole.dtype != first.dtype:
            return False
        if arrays is not self._lent:
            for place, array in enumerate(arrays, self._done):
                whole[place, ...] = array
        return True


def _arrays(column: Column) -> Sequence[NDArray[Any]] | NDArray[Any] | None:
    """Arrays of samples that are alike."""
    if isinstance(column, Whole):
        return column.array
    return [row.values for row in column] if alike(column) else None
