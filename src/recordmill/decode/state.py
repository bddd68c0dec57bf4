"""Data of one batch while it is decoded: its columns, random numbers, image geometry and failed samples."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recordmill.decode.columns import take_column_rows
from recordmill.decode.geometry import GeometryPlan
from recordmill.decode.native import Headers
from recordmill.decode.plan import CompiledImageSpec
from recordmill.decode.random import Draws
from recordmill.errors import DecodeError, FeatureError, RecordmillError

Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False, slots=True)
class ImageBatch:
    """Headers and geometry of the images that one `Image` spec decodes. Masks and boxes use this geometry.

    Parameters
    ----------
    compiled : CompiledImageSpec
    rows : ndarray of int64, shape (n,)
        Rows of the batch that have an image, strictly increasing.
    headers : Headers
    geometry : GeometryPlan
    """

    compiled: CompiledImageSpec
    rows: Ints
    headers: Headers
    geometry: GeometryPlan

    def __getitem__(self, kept: NDArray[np.bool_]) -> ImageBatch:
        """Return the images that a boolean mask selects."""
        return ImageBatch(self.compiled, self.rows[kept], self.headers[kept], self.geometry[kept])

    def find_ordinals(self, rows: Ints) -> Ints:
        """Convert row numbers of the batch to indices into `headers` and `geometry`. Each row must have an image."""
        return np.searchsorted(self.rows, rows)


@dataclass(slots=True)
class BatchState:
    """Data of one batch while it is decoded: inputs, options, and results so far.

    Parameters
    ----------
    columns : dict of str to column
    count : int
        Number of samples.
    positions : ndarray of int64, shape (count,)
    draws : Draws, optional
    threads : int
    max_pixels : int
    entry_points : dict of str to sequence of buffer
        Entry points of the images, by feature.
    out : mapping of str to ndarray
        Arrays of the caller that receive outputs.
    empty : callable
        Allocates the arrays of the other outputs.

    Attributes
    ----------
    images : dict of str to ImageBatch
    errors : dict of int to DecodeError
        First error of each failed sample, by row.
    consumed : set of str
        Features that are not part of the result.
    """

    columns: dict[str, Any]
    count: int
    positions: Ints
    draws: Draws | None
    threads: int
    max_pixels: int
    entry_points: dict[str, Sequence[Any]]
    out: Mapping[str, Any]
    empty: Callable[..., NDArray[Any]]
    images: dict[str, ImageBatch] = field(default_factory=dict)
    errors: dict[int, DecodeError] = field(default_factory=dict)
    consumed: set[str] = field(default_factory=set)

    def column(self, feature: str, *, consume: bool = True) -> Any:
        """Return the input column of a feature. With `consume`, the decoded batch will not contain the input column."""
        if feature not in self.columns:
            hint = "name the spec after a feature of the batch, or set feature= in the spec"
            raise FeatureError(
                f"the batch has no feature '{feature}'", expected=", ".join(self.columns), found=feature, hint=hint
            )
        if consume:
            self.consumed.add(feature)
        return self.columns[feature]

    def valid_rows(self) -> Ints:
        """Return the row numbers of the samples without an error."""
        rows = np.arange(self.count)
        return np.delete(rows, [*self.errors]) if self.errors else rows

    def store_error(self, row: int, feature: str, cause: Exception) -> None:
        """Store the error of a sample, unless an earlier error of this sample is stored.

        A MemoryError is raised, because the sample may be valid and must not be skipped. Its attribute `sample` is
        the row and the feature.
        """
        if isinstance(cause, MemoryError):
            error = MemoryError(f"{cause}: sample {row} of the batch, feature '{feature}'")
            error.sample = (int(row), feature)  # type: ignore[attr-defined]
            raise error from cause
        self.errors.setdefault(int(row), decode_error(int(row), feature, cause))

    def sorted_errors(self) -> list[DecodeError]:
        """Return the errors of failed samples in the order of the batch."""
        return [self.errors[row] for row in sorted(self.errors)]

    def allocate_output(self, name: str, shape: tuple[int, ...], dtype: str) -> Any:
        """Return the array for one output: either the caller's array from `out`, or a newly allocated array."""
        full_shape = (self.count, *shape)
        array = self.out.get(name)
        if array is None:
            return np.zeros(full_shape, dtype) if self.errors else self.empty(full_shape, dtype)
        if not isinstance(array, np.ndarray) or array.shape != full_shape or array.dtype != np.dtype(dtype):
            found = f"{array.dtype} of shape {array.shape}" if isinstance(array, np.ndarray) else type(array).__name__
            raise ValueError(f"out['{name}'] must be an array of {dtype} of shape {full_shape}, got {found}")
        if not array.flags.writeable:
            raise ValueError(f"out['{name}'] must be writable")
        return array

    def drop_failed_rows(self, name: str, column: Any, rows: Ints) -> Any:
        """Keep only `rows` of an output column. If the column is an array of `out`, move these rows to its start."""
        kept = take_column_rows(column, rows)
        if name not in self.out:
            return kept
        array = self.out[name][: len(rows)]
        array[...] = kept
        return array


def decode_error(position: int | None, feature: str, cause: Exception) -> DecodeError:
    """Convert the error of one sample to a DecodeError."""
    if isinstance(cause, RecordmillError):
        parts = {name: value for name, value in cause.parts().items() if name not in ("position", "feature", "cause")}
        return DecodeError(cause.message, position=position, feature=feature, cause=cause, **parts)
    return DecodeError(str(cause) or repr(cause), kind="bad_value", position=position, feature=feature, cause=cause)
