"""The batch stage: choose the positions of each batch, and collate samples to arrays."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from recordmill.errors import FeatureError
from recordmill.pipeline.checks import check_integer, set_fields
from recordmill.pipeline.samples import Columns, Ints, build_column
from recordmill.pipeline.stages.padding import Locate, Padding
from recordmill.types import Ragged

Last = Literal["keep", "drop", "pad", "wrap"]
RaggedAs = Literal["ragged", "pad", "list"]
VALID = "valid"
_NO_PADDING = Padding()


@dataclass(frozen=True, slots=True)
class BatchSampler:
    """Computes the positions of each batch of one rank.

    For each batch, all ranks together consume ``size * world_size`` consecutive positions, and each rank gets `size` of
    them. Every rank gets the same number of batches.

    Parameters
    ----------
    length : int, optional
        Number of positions of the epoch; None if endless.
    size : int
        Batch size of one rank.
    last : str
        Treatment of the last positions if they do not fill a batch on every rank. One of "keep", "drop", "pad" or
        "wrap".
    rank, world_size : int
    start : int
        Number of positions that were already consumed.

    Raises
    ------
    ValueError
        If a rank would get no sample in the last batch.
    """

    length: int | None
    size: int
    last: Last = "keep"
    rank: int = 0
    world_size: int = 1
    start: int = 0

    @property
    def global_size(self) -> int:
        """Batch size of all ranks together."""
        return self.size * self.world_size

    @property
    def num_batches(self) -> int | None:
        """Number of batches of each rank; None means endless."""
        if self.length is None:
            return None
        full, rest = divmod(max(0, self.length - self.start), self.global_size)
        if not rest or self.last == "drop":
            return full
        if self.last == "keep" and rest < self.world_size:
            raise ValueError(
                f"the last {rest} samples are not enough for {self.world_size} ranks: "
                'use batch(last="drop"), "pad" or "wrap", which give every rank the same number of batches'
            )
        return full + 1

    def check_has_batches(self) -> None:
        """Raise ValueError if the epoch has no batch."""
        if self.length is None:
            return
        if self.length <= self.start:
            raise ValueError(f"skip() drops all {self.length} samples" if self.length else "the dataset has no samples")
        if self.num_batches == 0:
            raise ValueError(
                f"{self.length - self.start} samples are not enough for a batch of {self.global_size} ({self.size} for "
                f'each of {self.world_size} ranks): use a smaller batch size, or last="keep", "pad" or "wrap"'
            )

    def check_filtered_epoch(self, num_candidates: int | None) -> None:
        """Raise ValueError if the ranks may get different numbers of batches, or if the epoch has no batch.

        Parameters
        ----------
        num_candidates : int, optional
            Number of samples before the filter; None if endless.
        """
        if self.last == "keep" and self.world_size > 1 and num_candidates is not None:
            raise ValueError(
                f'batch(last="keep") cannot be combined with filter and {self.world_size} ranks, because the last '
                'batch may have fewer samples than ranks: use last="drop" or "pad"'
            )
        ends = [end for end in (num_candidates, self.length) if end is not None]
        longest = replace(self, length=min(ends) if ends else None)
        is_exact = num_candidates is None  # an endless pipeline has enough samples for all batches
        if longest.length is not None and (is_exact or self.last == "drop" or longest.length <= self.start):
            longest.check_has_batches()

    def positions(self, number: int) -> range | Ints:
        """Return the epoch positions of the samples in one batch of this rank."""
        global_size = self.global_size
        first = self.start + number * global_size
        rest = global_size if self.length is None else self.length - first
        if rest >= global_size or self.last == "wrap":
            begin = first + self.rank * self.size
            batch = range(begin, begin + self.size)
            if self.length is None or batch.stop <= self.length:
                return batch
            return np.arange(batch.start, batch.stop) % (self.length or 1)
        if self.last == "pad":
            begin = min(self.rank * self.size, rest)
            return range(first + begin, first + min(begin + self.size, rest))
        share, extra = divmod(rest, self.world_size)
        begin = self.rank * share + min(self.rank, extra)
        return range(first + begin, first + begin + share + (self.rank < extra))

    def position_after(self, num_batches: int) -> int:
        """Return the number of samples that all ranks together consume for `num_batches` batches per rank."""
        position = self.start + num_batches * self.global_size
        return position if self.length is None else min(position, self.length)


@dataclass(frozen=True, slots=True)
class Batch:
    """Combines samples into batches.

    Parameters
    ----------
    size : int
        Batch size of one rank.
    last : str
        Treatment of the last samples if they do not fill a batch. "keep" yields a smaller batch, "drop" drops them,
        "pad" fills the batch up with zeros and empty rows and adds a feature ``"valid"`` (bool) to every batch, and
        "wrap" fills it up with the first samples of the epoch.
    ragged : str
        Result for features whose number of values differs between samples: with "ragged" a `Ragged` (or a list of
        arrays if the arrays differ in more than the first dimension), with "pad" a padded array, with "list" a list of
        arrays. Byte strings become a list of `bytes` with "list", and a `Ragged` otherwise. Tensors of other libraries
        are converted to arrays.
    padding : Padding
        Values and sizes for ragged="pad".
    """

    size: int
    last: Last = "keep"
    ragged: RaggedAs = "ragged"
    padding: Padding = _NO_PADDING

    def __post_init__(self) -> None:
        """Raise TypeError or ValueError if an argument is invalid."""
        set_fields(self, size=check_integer(self.size, "batch size must be a positive integer", 1))
        if self.last not in ("keep", "drop", "pad", "wrap"):
            raise ValueError(f'last must be "keep", "drop", "pad" or "wrap", got {self.last!r}')
        if self.ragged not in ("ragged", "pad", "list"):
            raise ValueError(f'ragged must be "ragged", "pad" or "list", got {self.ragged!r}')
        if self.ragged != "pad" and self.padding != _NO_PADDING:
            raise ValueError(f'pad_value, pad_to and pad_to_multiple_of require ragged="pad", got {self.ragged!r}')

    def collate(
        self,
        columns: Columns,
        count: int,
        ordinals: NDArray[np.int64] | None = None,
        locate: Locate = lambda _: {},
    ) -> Columns:
        """Collate columns to a batch of `count` rows.

        With last="pad", `ordinals` are the rows of the batch in which the samples are placed. `locate` returns the
        shard and record of a row, for errors.
        """
        if self.ragged == "pad":
            self.padding.check_names(columns)
        collated = {name: self._collate_column(name, column, locate) for name, column in columns.items()}
        if self.last != "pad":
            return collated
        if VALID in collated:
            raise FeatureError(
                f'batch(last="pad") adds a feature {VALID!r}, but the samples already have a feature with this name',
                kind="feature_mismatch",
                hint="rename the feature with map before batch",
            )
        valid = np.zeros(count, bool)
        valid[slice(None) if ordinals is None else ordinals] = True
        if not valid.all():
            collated = {name: _scatter_rows(column, valid) for name, column in collated.items()}
        return collated | {VALID: valid}

    def _collate_column(self, name: str, column: Any, locate: Locate) -> Any:
        if isinstance(column, list):
            # Choose the type from the rows of this batch only, so that it does not depend on other batches of the job.
            column = build_column(_unify_string_widths(convert_tensors(column)))
        if self.ragged == "pad":
            return self._pad_column(name, column, locate)
        if isinstance(column, list) and self.ragged == "ragged":
            return _build_ragged(column)
        return list(column) if isinstance(column, Ragged) and self.ragged == "list" else column

    def _pad_column(self, name: str, column: Any, locate: Locate) -> Any:
        is_named = name in self.padding.named
        if isinstance(column, np.ndarray):
            return self.padding.pad_equal_arrays(name, column, locate) if is_named and column.ndim > 1 else column
        if isinstance(column, list):
            if column and all(isinstance(row, np.ndarray) for row in column):
                return self.padding.pad_arrays(name, column, locate)
            column = _build_ragged(column)
        if isinstance(column, Ragged) and (is_named or not _contains_bytes(column)):
            return self.padding.pad_ragged(name, column, locate)
        return column

    def __repr__(self) -> str:
        """Return the method call that adds this stage to a dataset, as text."""
        ragged = f", ragged={self.ragged!r}" if self.ragged != "ragged" else ""
        return f"batch({self.size}, last={self.last!r}{ragged}{self.padding})"


def convert_tensors(rows: list[Any]) -> list[Any]:
    """Convert tensors of other libraries to arrays, unless NumPy cannot represent them."""
    if not rows or not all(hasattr(row, "__dlpack__") for row in rows):
        return rows
    try:
        return [np.asarray(row) for row in rows]
    except (TypeError, RuntimeError, ValueError):  # NumPy cannot represent the device, gradient or dtype.
        return rows


def _unify_string_widths(rows: list[Any]) -> list[Any]:
    """Convert NumPy strings of different lengths to the dtype of the longest. Return other rows unchanged."""
    if not all(isinstance(row, np.ndarray | np.generic) for row in rows):
        return rows
    dtypes = {row.dtype for row in rows}
    if len(dtypes) < 2 or {dtype.kind for dtype in dtypes} not in ({"S"}, {"U"}):
        return rows
    widest = np.result_type(*dtypes)
    return [np.asarray(row, widest) for row in rows]


def _build_ragged(rows: list[Any]) -> Any:
    """Combine byte strings, or arrays that differ only in their first dimension, in a Ragged; keep other rows."""
    if rows and all(isinstance(row, bytes) for row in rows):
        return Ragged.from_rows(rows)
    arrays = [row for row in rows if isinstance(row, np.ndarray) and row.ndim]
    forms = {(array.dtype, array.shape[1:]) for array in arrays}
    return Ragged.from_rows(rows) if rows and len(arrays) == len(rows) and len(forms) == 1 else rows


def _contains_bytes(column: Ragged) -> bool:
    inner: Any = column
    while isinstance(inner, Ragged):
        inner = inner.data
    return bool(inner.dtype == np.uint8 and inner.ndim == 1)


def _scatter_rows(column: Any, valid: NDArray[np.bool_]) -> Any:
    """Insert a row of zeros, or an empty row, at each position where `valid` is False."""
    num_rows = int(valid.sum())
    if isinstance(column, np.ndarray):
        filled = np.zeros((len(valid), *column.shape[1:]), column.dtype)
        filled[valid] = column[:num_rows]
        return filled
    if isinstance(column, Ragged):
        counts = np.zeros(len(valid), np.int64)
        counts[valid] = np.diff(column.row_splits)[:num_rows]
        return Ragged(column.data[: column.row_splits[num_rows]], np.concatenate([[0], np.cumsum(counts)]))
    rows = iter(column)
    return [next(rows) if is_valid else _create_empty_row(column) for is_valid in valid]


def _create_empty_row(rows: list[Any]) -> Any:
    """Return an empty value of the same type as the rows: 0 for numbers, None for a type without an empty value."""
    first = rows[0] if rows else None
    if isinstance(first, np.ndarray | np.generic) and not first.ndim:
        return np.zeros((), first.dtype)[()]
    if isinstance(first, bool | int | float):
        return type(first)(0)
    if isinstance(first, bytes | str | list | tuple | np.ndarray | Ragged):
        return first[:0]
    return {} if isinstance(first, dict) else None
