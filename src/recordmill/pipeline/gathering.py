"""What a function returns for one sample after the other, as columns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recordmill.pipeline.rows import Columns

_NUMBERS = (np.ndarray, np.generic, int, float, bool)


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

    __slots__ = ("_array", "_count", "_dtype", "_most", "_values")

    def __init__(self, most: int) -> None:
        self._most, self._count = most, 0
        self._array: NDArray[Any] | None = None
        self._dtype: np.dtype[Any] | None = None
        self._values: list[Any] | None = None

    def add(self, value: Any) -> None:
        if self._values is None and not (isinstance(value, _NUMBERS) and self._takes(np.asarray(value))):
            self._values = [] if self._array is None else list(self._array[: self._count].copy())
            self._array = None
        if self._values is not None:
            self._values.append(_kept(value))
        self._count += 1

    def _takes(self, row: NDArray[Any]) -> bool:
        if self._array is None:
            self._dtype = row.dtype
            self._array = np.array(row[None], np.result_type(row))
            return True
        if row.shape != self._array.shape[1:] or row.dtype != self._dtype:
            return False
        if len(self._array) < self._most:  # memory for all rows follows when a second one has the shape of the first
            first, self._array = self._array, np.empty((self._most, *row.shape), self._array.dtype)
            self._array[:1] = first
        self._array[self._count] = row
        return True

    def whole(self) -> Any:
        if self._values is not None:
            return self._values
        return [] if self._array is None else self._array[: self._count]


def _kept(value: Any) -> Any:
    """A value that nobody else writes to: views of memory that can be written are copied."""
    shared = isinstance(value, np.ndarray) and value.base is not None and value.flags.writeable
    return value.copy() if shared else value
