"""What a function returns for one sample after the other, as columns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recordmill.pipeline.rows import Columns

# Types of single numbers that tell their dtype.
NUMBERS: Mapping[type[Any], np.dtype[Any]] = {
    **{kind: np.dtype(kind) for kind in (bool, int, float)},
    **{np.dtype(code).type: np.dtype(code) for code in np.typecodes["AllInteger"] + "?efd"},
}
_SHAPED = (np.ndarray, np.generic, int, float, bool)


class Gathering:
    """Columns that grow; what is added may be changed or used again by whoever made it.

    Parameters
    ----------
    most : int
        Samples that there may be.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._columns: dict[str, _Column] = {}

    def add(self, sample: Mapping[str, Any]) -> None:
        """Add a sample.

        Parameters
        ----------
        sample : mapping of str to object
            With the same names as the first.
        """
        if not self._columns:
            self._columns = {name: _Column(self._most) for name in sample}
        for name, column in self._columns.items():
            column.add(sample[name])

    def columns(self) -> Columns:
        """All that was added: arrays where all rows are numbers of one shape, lists otherwise.

        Returns
        -------
        dict of str to ndarray or list
        """
        return {name: column.whole() for name, column in self._columns.items()}


class _Column:
    """Values of one feature: rows of an array, or a list from the first one on that is of another form."""

    __slots__ = ("_array", "_count", "_dtype", "_most", "_number", "_numbers", "_values")

    def __init__(self, most: int) -> None:
        self._most, self._count = most, 0
        self._array: NDArray[Any] | None = None
        self._dtype: np.dtype[Any] | None = None
        self._values: list[Any] | None = None
        # Numbers by themselves, while all are of one type: an array is made of them in the end.
        self._number: type[Any] | None = None
        self._numbers: list[Any] = []

    def add(self, value: Any) -> None:
        kind = type(value)
        if kind is self._number:
            self._numbers.append(value)
        elif not self._count and kind in NUMBERS:
            self._number, self._numbers = kind, [value]
        else:
            self._settle()
            self._add_other(value)
        self._count += 1

    def _settle(self) -> None:
        """Make an array of numbers by themselves; of those that fit none, what they are by the rules for all others."""
        if self._number is None:
            return
        dtype, self._number = NUMBERS[self._number], None
        try:
            self._array, self._dtype = np.array(self._numbers, dtype), dtype
        except OverflowError:
            self._count = 0
            for number in self._numbers:
                self._add_other(number)
                self._count += 1

    def _add_other(self, value: Any) -> None:
        if self._values is None and not (isinstance(value, _SHAPED) and self._takes(np.asarray(value))):
            self._values = [] if self._array is None else list(self._array[: self._count].copy())
            self._array = None
        if self._values is not None:
            self._values.append(_kept(value))

    def _takes(self, row: NDArray[Any]) -> bool:
        if self._array is None:
            self._dtype = row.dtype
            self._array = np.array(row[None], np.result_type(row))
            return True
        if row.shape != self._array.shape[1:] or row.dtype != self._dtype:
            return False
        if len(self._array) < self._most:  # memory for all rows follows when there is a second one of its shape
            first, self._array = self._array, np.empty((self._most, *row.shape), self._array.dtype)
            self._array[: len(first)] = first
        self._array[self._count] = row
        return True

    def whole(self) -> Any:
        self._settle()
        if self._values is not None:
            return self._values
        return [] if self._array is None else self._array[: self._count]


def _kept(value: Any) -> Any:
    """A value that nobody else writes to: views of memory that can be written are copied."""
    shared = isinstance(value, np.ndarray) and value.base is not None and value.flags.writeable
    return value.copy() if shared else value
