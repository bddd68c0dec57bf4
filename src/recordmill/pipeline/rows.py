"""Samples on their way, as columns: which they are, and how rows are taken, joined and handed out one by one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recordmill.decode.columns import take
from recordmill.errors import FeatureError
from recordmill.types import Ragged

Ints = NDArray[np.int64]
Columns = dict[str, Any]


@dataclass(frozen=True, eq=False, slots=True)
class Rows:
    """Some of the samples that were asked for.

    Parameters
    ----------
    columns : dict of str to ndarray, Ragged or list
        One row per sample.
    ordinals : ndarray of int64, shape (n,)
        Which of the samples that were asked for these are, rising; the others failed or were filtered out.
    origins : ndarray of int64, shape (n, 2)
        Number of the source, and position in it.
    """

    columns: Columns
    ordinals: Ints
    origins: Ints

    def __len__(self) -> int:
        """Return the number of samples."""
        return len(self.ordinals)

    def take(self, rows: Ints) -> Rows:
        """Some of the samples."""
        columns = {name: take(column, rows) for name, column in self.columns.items()}
        return Rows(columns, self.ordinals[rows], self.origins[rows])

    def slice(self, start: int, stop: int) -> Columns:
        """Columns of neighboring samples, without a copy."""
        if start == 0 and stop == len(self):
            return self.columns
        return {name: column[start:stop] for name, column in self.columns.items()}

    def samples(self) -> list[dict[str, Any]]:
        """Samples one by one; arrays are views that cannot be written."""
        return samples_of(self.columns, len(self))


def samples_of(columns: Mapping[str, Any], count: int, *, lock: bool = True) -> list[dict[str, Any]]:
    """Rows of columns as dicts."""
    if not columns:
        return [{} for _ in range(count)]
    lists = [list(_locked(column) if lock else column) for column in columns.values()]
    return [dict(zip(columns, row, strict=True)) for row in zip(*lists, strict=True)]


def locked(columns: Mapping[str, Any]) -> Columns:
    """Views of columns that cannot be written."""
    return {name: _locked(column) for name, column in columns.items()}


def _locked(column: Any) -> Any:
    if isinstance(column, Ragged):
        return Ragged(_locked(column.data), column.row_splits)
    if isinstance(column, np.ndarray):
        view = column.view()
        view.flags.writeable = False
        return view
    return column


def stacked(samples: Sequence[Mapping[str, Any]]) -> Columns:
    """Columns of samples: arrays where all rows are numbers of one shape, lists otherwise."""
    return {name: column_of([sample[name] for sample in samples]) for name in (samples[0] if samples else ())}


def column_of(values: list[Any]) -> Any:
    """Column of the values of one feature: an array where all are numbers of one shape, else the list."""
    if not values or not all(isinstance(value, np.ndarray | np.generic | int | float | bool) for value in values):
        return values
    arrays = [np.asarray(value) for value in values]
    first = arrays[0]
    if any(array.shape != first.shape or array.dtype != first.dtype for array in arrays[1:]):
        return values
    return np.stack(arrays)


def concatenated(parts: Sequence[Columns]) -> Columns:
    """Columns of several objects, one behind the other."""
    if len(parts) == 1:
        return parts[0]
    names = parts[0].keys()
    for part in parts[1:]:
        if part.keys() != names:
            raise FeatureError(
                "samples that are to be put together have different features",
                expected=", ".join(names),
                found=", ".join(part),
            )
    return {name: _joined(name, [part[name] for part in parts]) for name in names}


def _joined(name: str, columns: list[Any]) -> Any:
    if all(isinstance(column, Ragged) for column in columns):
        splits = [column.row_splits for column in columns]
        starts = np.cumsum([0, *(split[-1] for split in splits)])
        moved = [split[1:] + start for split, start in zip(splits, starts, strict=False)]
        data = _joined(name, [column.data for column in columns])
        return Ragged(data, np.concatenate([splits[0][:1], *moved]))
    if all(isinstance(column, np.ndarray) for column in columns):
        shapes = {(column.dtype, column.shape[1:]) for column in columns}
        if len(shapes) == 1:
            return np.concatenate(columns)
    single = any(isinstance(column, np.ndarray) and column.ndim == 1 and len(column) for column in columns)
    if single and any(isinstance(column, Ragged) for column in columns):
        found = ", ".join(type(column).__name__ for column in columns)
        raise FeatureError(f"feature {name!r} has several forms", expected="one form", found=found)
    return [row for column in columns for row in column]


def joined_rows(parts: Sequence[Rows]) -> Rows:
    """Samples of several objects, in the order of their ordinals."""
    full = [part for part in parts if len(part)] or [parts[0]]
    if len(full) == 1:
        return full[0]
    ordinals = np.concatenate([part.ordinals for part in full])
    origins = np.concatenate([part.origins for part in full])
    rows = Rows(concatenated([part.columns for part in full]), ordinals, origins)
    if (np.diff(ordinals) > 0).all():
        return rows
    return rows.take(np.argsort(ordinals, kind="stable"))
