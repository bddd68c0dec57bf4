"""What is known while a batch is decoded: its columns, its draws, the geometry of its images, and what failed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recordmill.decode.columns import take
from recordmill.decode.draws import Draws
from recordmill.decode.executors.base import Border, Headers
from recordmill.decode.moves import Moves
from recordmill.errors import DecodeError, FeatureError, RecordmillError

Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False, slots=True)
class ImagePlan:
    """The geometry of one feature's images, for those that have one.

    Parameters
    ----------
    rows : ndarray of int64, shape (n,)
        Places of the samples in the batch, rising.
    headers : Headers
    moves : Moves
    library : str
        Of the resize kernel.
    border : Border
    """

    rows: Ints
    headers: Headers
    moves: Moves
    library: str
    border: Border

    def at(self, rows: Ints) -> Ints:
        """Places in this plan of rows of the batch."""
        return np.searchsorted(self.rows, rows)


@dataclass(frozen=True, eq=False, slots=True)
class Slots:
    """Some rows of an array, by their own numbers.

    Parameters
    ----------
    array : ndarray, shape (count, ...)
    rows : ndarray of int64
    """

    array: NDArray[Any]
    rows: Ints

    def __getitem__(self, row: int) -> Any:
        """Return the part of the array that belongs to a row."""
        return self.array[self.rows[row]]


@dataclass(slots=True)
class BatchState:
    """One batch on its way.

    Parameters
    ----------
    columns : dict of str to column
    count : int
        Samples.
    positions : ndarray of int64, shape (count,)
    draws : Draws, optional
    threads : int
    max_pixels : int
    tables : dict of str to sequence of buffer
        Entry points of the images of features.
    """

    columns: dict[str, Any]
    count: int
    positions: Ints
    draws: Draws | None
    threads: int
    max_pixels: int
    tables: dict[str, Sequence[Any]] = field(default_factory=dict)
    images: dict[str, ImagePlan] = field(default_factory=dict)
    faults: dict[int, DecodeError] = field(default_factory=dict)
    consumed: set[str] = field(default_factory=set)
    out: Mapping[str, Any] = field(default_factory=dict)
    empty: Callable[..., NDArray[Any]] = np.empty

    def places_for(self, out: Mapping[str, Any], specs: Mapping[str, Any]) -> None:
        """Note the caller's arrays."""
        for name in out:
            if name not in specs or not getattr(specs[name], "stack", False):
                raise ValueError(f"out has '{name}', which is no output of one array")
        self.out = out

    def column(self, feature: str, *, consume: bool = True) -> Any:
        """Return the column of a feature."""
        if feature not in self.columns:
            hint = "a spec stands under the name of its feature, or has feature= to name it"
            raise FeatureError(f"no feature '{feature}'", expected=", ".join(self.columns), found=feature, hint=hint)
        if consume:
            self.consumed.add(feature)
        return self.columns[feature]

    def entry_points(self, feature: str, rows: Ints) -> Sequence[Any]:
        """Return the entry points of some images of a feature."""
        table = self.tables.get(feature)
        if table is None:
            return []
        return table if len(rows) == len(table) else [table[row] for row in rows]

    def kept_rows(self) -> list[int]:
        """Places of the samples that have not failed."""
        return [row for row in range(self.count) if row not in self.faults]

    def alive(self) -> Ints:
        """Places of the samples that have not failed."""
        return np.array(self.kept_rows(), np.int64) if self.faults else np.arange(self.count)

    def fail(self, row: int, feature: str, cause: Exception) -> None:
        """Note that a sample failed; its first failure counts."""
        self.faults.setdefault(int(row), decode_error(int(row), feature, cause))

    def errors(self) -> list[DecodeError]:
        """Failures in the order of the batch."""
        return [self.faults[row] for row in sorted(self.faults)]

    def raise_first(self) -> None:
        """Raise the failure of the first sample that failed."""
        for error in self.errors():
            raise error from error.cause

    def slots(self, name: str, shape: tuple[int, ...], dtype: str) -> Any:
        """Return an array for one output: the caller's, or a new one."""
        wanted = (self.count, *shape)
        place = self.out.get(name)
        if place is None:
            return np.zeros(wanted, dtype) if self.faults else self.empty(wanted, dtype)
        if not isinstance(place, np.ndarray) or place.shape != wanted or place.dtype != np.dtype(dtype):
            raise ValueError(f"out['{name}'] is to be {dtype} of shape {wanted}, not {_described(place)}")
        if not place.flags.writeable:
            raise ValueError(f"out['{name}'] cannot be written")
        return place

    def compact(self, name: str, column: Any, kept: list[int]) -> Any:
        """Leave out the failed samples of an output."""
        rows = take(column, kept)
        if name not in self.out:
            return rows
        place = self.out[name][: len(kept)]
        place[...] = rows
        return place


def _described(place: Any) -> str:
    return f"{place.dtype} of shape {place.shape}" if isinstance(place, np.ndarray) else type(place).__name__


def decode_error(position: int | None, feature: str, cause: Exception) -> DecodeError:
    """Put an error of one sample into words."""
    if isinstance(cause, RecordmillError):
        parts = {name: value for name, value in cause.parts().items() if name not in ("position", "feature", "cause")}
        return DecodeError(cause.message, position=position, feature=feature, cause=cause, **parts)
    return DecodeError(str(cause) or repr(cause), kind="bad_value", position=position, feature=feature, cause=cause)
