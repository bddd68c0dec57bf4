"""Classes for the samples inside a pipeline: their positions in an epoch, and their features as columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recordmill.decode.columns import take_column_rows
from recordmill.errors import FeatureError
from recordmill.types import Ragged

Ints = NDArray[np.int64]
Columns = dict[str, Any]


@dataclass(frozen=True, eq=False, slots=True)
class Positions:
    """Positions of samples, each with its epoch. Epoch, position and seed determine a sample and its random numbers.

    Parameters
    ----------
    epochs : int, or ndarray of int64, shape (n,)
        An integer if all positions are in the same epoch.
    values : range, or ndarray of int64, shape (n,)
        Positions from 0. A range if they are consecutive, because sources read ranges faster.
    """

    epochs: int | Ints
    values: range | Ints

    def __len__(self) -> int:
        """Return the number of positions."""
        return len(self.values)

    @property
    def array(self) -> Ints:
        """`values` as an array."""
        values = self.values
        if isinstance(values, range):
            return np.arange(values.start, values.stop, values.step, dtype=np.int64)
        return values

    def take(self, rows: Ints) -> Positions:
        """Return the positions of the given rows. The rows must be strictly increasing."""
        if len(rows) == len(self.values):
            return self
        epochs = self.epochs if isinstance(self.epochs, int) else self.epochs[rows]
        return Positions(epochs, self.array[rows])

    def slice(self, start: int, stop: int) -> Positions:
        """Return the positions in a range of rows."""
        epochs = self.epochs if isinstance(self.epochs, int) else self.epochs[start:stop]
        return Positions(epochs, self.values[start:stop])

    def epoch_and_position(self, row: int) -> tuple[int, int]:
        """Return (epoch, position) of one row."""
        epoch = self.epochs if isinstance(self.epochs, int) else int(self.epochs[row])
        return epoch, int(self.values[row])

    def by_epoch(self) -> list[tuple[int, Ints]]:
        """Group the rows by epoch: return pairs of an epoch and the rows whose positions belong to that epoch."""
        if isinstance(self.epochs, int):
            return [(self.epochs, np.arange(len(self.values), dtype=np.int64))]
        return [(int(epoch), np.flatnonzero(self.epochs == epoch)) for epoch in np.unique(self.epochs)]


def concatenate_positions(epoch: int, parts: Sequence[range | Ints]) -> Positions:
    """Concatenate positions of one epoch; consecutive ranges become one range."""
    if len(parts) == 1:
        return Positions(epoch, parts[0])
    first, last = parts[0], parts[-1]
    if isinstance(first, range) and isinstance(last, range):
        ranges = [part for part in parts if isinstance(part, range)]
        if len(ranges) == len(parts) and all(one.stop == two.start for one, two in pairwise(ranges)):
            return Positions(epoch, range(first.start, last.stop))
    return Positions(epoch, np.concatenate([np.asarray(part, np.int64) for part in parts]))


@dataclass(frozen=True, eq=False, slots=True)
class SampleRows:
    """The requested samples as columns. Samples that failed or did not pass a filter are omitted.

    Parameters
    ----------
    columns : dict of str to ndarray, Ragged or list
        One row per sample.
    ordinals : ndarray of int64, shape (n,)
        Indices of these samples among the requested ones, increasing.
    origins : ndarray of int64, shape (n, 2)
        Index of the source, and position in that source.
    """

    columns: Columns
    ordinals: Ints
    origins: Ints

    def __len__(self) -> int:
        """Return the number of samples."""
        return len(self.ordinals)

    def take(self, rows: Ints) -> SampleRows:
        """Return the samples of the given rows."""
        columns = {name: take_column_rows(column, rows) for name, column in self.columns.items()}
        return SampleRows(columns, self.ordinals[rows], self.origins[rows])

    def slice(self, start: int, stop: int) -> Columns:
        """Return the columns of the samples from `start` to `stop`, without a copy."""
        if start == 0 and stop == len(self.ordinals):
            return self.columns
        return {name: column[start:stop] for name, column in self.columns.items()}

    def split(self) -> list[dict[str, Any]]:
        """Return one dict per sample, whose arrays are read-only views."""
        return split_samples(make_read_only(self.columns), len(self))


def split_samples(columns: Mapping[str, Any], count: int) -> list[dict[str, Any]]:
    """Convert the rows of columns to one dict per sample."""
    if not columns:
        return [{} for _ in range(count)]
    return [dict(zip(columns, row, strict=True)) for row in zip(*map(list, columns.values()), strict=True)]


def make_read_only(columns: Mapping[str, Any]) -> Columns:
    """Return read-only views of columns."""
    return {name: _make_column_read_only(column) for name, column in columns.items()}


def _make_column_read_only(column: Any) -> Any:
    if isinstance(column, Ragged):
        return Ragged(_make_column_read_only(column.data), column.row_splits)
    if isinstance(column, np.ndarray):
        view = column.view()
        view.flags.writeable = False
        return view
    return column


def stack_samples(samples: Sequence[Mapping[str, Any]]) -> Columns:
    """Convert samples, which are dicts of features, to one dict of columns."""
    return {name: build_column([sample[name] for sample in samples]) for name in (samples[0] if samples else ())}


def build_column(values: list[Any]) -> Any:
    """Stack the values of a feature in an array if their dtypes and shapes are equal; otherwise return the list."""
    if not values or not all(isinstance(value, np.ndarray | np.generic | int | float | bool) for value in values):
        return values
    arrays = [np.asarray(value) for value in values]
    first = arrays[0]
    if any(array.shape != first.shape or array.dtype != first.dtype for array in arrays[1:]):
        return values
    return np.stack(arrays)


def concatenate_rows(parts: Sequence[SampleRows]) -> SampleRows:
    """Concatenate the rows of several `SampleRows` and sort them by their ordinals."""
    if len(parts) == 1:
        return parts[0]
    nonempty = [part for part in parts if len(part)] or [parts[0]]
    if len(nonempty) == 1:
        return nonempty[0]
    ordinals = np.concatenate([part.ordinals for part in nonempty])
    origins = np.concatenate([part.origins for part in nonempty])
    rows = SampleRows(_concatenate_columns([part.columns for part in nonempty]), ordinals, origins)
    if (np.diff(ordinals) > 0).all():
        return rows
    return rows.take(np.argsort(ordinals, kind="stable"))


def _concatenate_columns(parts: Sequence[Columns]) -> Columns:
    names = parts[0].keys()
    for part in parts[1:]:
        if part.keys() != names:
            raise FeatureError(
                "samples with different features cannot be combined",
                expected=", ".join(names),
                found=", ".join(part),
            )
    return {name: concatenate_column(name, [part[name] for part in parts]) for name in names}


def concatenate_column(name: str, columns: list[Any]) -> Any:
    """Concatenate the columns of a feature: to a Ragged or an array if possible, otherwise to a list."""
    if all(isinstance(column, Ragged) for column in columns):
        splits = [column.row_splits for column in columns]
        starts = np.cumsum([0, *(split[-1] for split in splits)])
        shifted = [split[1:] + start for split, start in zip(splits, starts, strict=False)]
        data = concatenate_column(name, [column.data for column in columns])
        return Ragged(data, np.concatenate([splits[0][:1], *shifted]))
    if all(isinstance(column, np.ndarray) for column in columns):
        forms = {(column.dtype, column.shape[1:]) for column in columns}
        if len(forms) == 1:
            return np.concatenate(columns)
    has_scalars = any(isinstance(column, np.ndarray) and column.ndim == 1 and len(column) for column in columns)
    if has_scalars and any(isinstance(column, Ragged) for column in columns):
        found = ", ".join(type(column).__name__ for column in columns)
        raise FeatureError(
            f"feature {name!r} is one value in some samples and a list of values in others",
            expected="the same form in all samples",
            found=found,
        )
    return [row for column in columns for row in column]


def count_bytes(value: Any) -> int:
    """Return the approximate size in bytes of a sample, a batch, or a value in it."""
    if isinstance(value, dict):
        return sum(map(count_bytes, value.values()))
    if isinstance(value, Ragged):
        return count_bytes(value.data) + value.row_splits.nbytes
    if isinstance(value, list):
        return sum(map(count_bytes, value))
    return int(getattr(value, "nbytes", 0)) or (len(value) if isinstance(value, bytes) else 8)
