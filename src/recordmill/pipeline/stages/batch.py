"""The stage that puts samples together into batches of arrays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from recordmill.errors import FeatureError
from recordmill.pipeline.checks import settle, whole
from recordmill.pipeline.rows import Columns, column_of
from recordmill.types import Ragged

Last = Literal["keep", "drop", "pad", "wrap"]
RaggedAs = Literal["ragged", "pad", "list"]
VALID = "valid"


@dataclass(frozen=True, slots=True)
class Batch:
    """Samples as batches.

    Parameters
    ----------
    size : int
        Samples per batch and rank.
    last : {"keep", "drop", "pad", "wrap"}
        What becomes of samples that fill no batch: a smaller one; nothing; a batch filled up with zeros and empty rows,
        of which the feature ``"valid"`` (bool) tells, in every batch; or one filled up with the epoch's first samples.
    ragged : {"ragged", "pad", "list"}
        What becomes of features with different numbers of values: a `Ragged`, an array padded with zeros to the
        longest row, or a list of arrays. Byte strings are lists of `bytes` with "list" and a `Ragged` otherwise.
        Tensors of other libraries are taken for arrays.
    """

    size: int
    last: Last = "keep"
    ragged: RaggedAs = "ragged"

    def __post_init__(self) -> None:
        """Refuse what makes no batch."""
        settle(self, size=whole(self.size, "a batch holds at least one example", 1))
        if self.last not in ("keep", "drop", "pad", "wrap"):
            raise ValueError(f'last is "keep", "drop", "pad" or "wrap", not {self.last!r}')
        if self.ragged not in ("ragged", "pad", "list"):
            raise ValueError(f'ragged is "ragged", "pad" or "list", not {self.ragged!r}')

    def collate(self, columns: Columns, count: int, ordinals: NDArray[np.int64] | None = None) -> Columns:
        """Bring columns into the form that was asked for."""
        formed = {name: self._form(column) for name, column in columns.items()}
        if self.last != "pad":
            return formed
        if VALID in formed:
            raise FeatureError(
                f'samples have a feature {VALID!r}, and so has what last="pad" makes',
                kind="feature_mismatch",
                hint="give it another name with map before batch",
            )
        valid = np.zeros(count, bool)
        valid[slice(None) if ordinals is None else ordinals] = True
        if not valid.all():
            formed = {name: _spread(column, valid) for name, column in formed.items()}
        return formed | {VALID: valid}

    def _form(self, column: Any) -> Any:
        if isinstance(column, list):
            # The rows of this batch alone decide, not of those that were made with it.
            column = column_of(_of_one_width(_arrays(column)))
        if isinstance(column, list) and self.ragged != "list":
            column = _ragged_of(column)
        if not isinstance(column, Ragged) or self.ragged == "ragged":
            return column
        if self.ragged == "list":
            return list(column)
        return column if _holds_bytes(column) else _padded(column)

    def __repr__(self) -> str:
        """Readable form."""
        ragged = f", ragged={self.ragged!r}" if self.ragged != "ragged" else ""
        return f"batch({self.size}, last={self.last!r}{ragged})"


def _arrays(rows: list[Any]) -> list[Any]:
    """Rows that are tensors of other libraries as arrays; as they are where NumPy cannot hold them."""
    if not rows or not all(hasattr(row, "__dlpack__") for row in rows):
        return rows
    try:
        return [np.asarray(row) for row in rows]
    except (TypeError, RuntimeError, ValueError):  # on a device, with a gradient, of a dtype of its own
        return rows


def _of_one_width(rows: list[Any]) -> list[Any]:
    """Rows of NumPy's strings as long as the longest; others as they are."""
    if not all(isinstance(row, np.ndarray | np.generic) for row in rows):
        return rows
    dtypes = {row.dtype for row in rows}
    if len(dtypes) < 2 or {dtype.kind for dtype in dtypes} not in ({"S"}, {"U"}):
        return rows
    widest = np.result_type(*dtypes)
    return [np.asarray(row, widest) for row in rows]


def _ragged_of(rows: list[Any]) -> Any:
    """Rows as a Ragged, where they are byte strings or arrays that differ in their first length alone."""
    if rows and all(isinstance(row, bytes) for row in rows):
        return Ragged.from_rows(rows)
    arrays = [row for row in rows if isinstance(row, np.ndarray) and row.ndim]
    alike = {(array.dtype, array.shape[1:]) for array in arrays}
    return Ragged.from_rows(rows) if rows and len(arrays) == len(rows) and len(alike) == 1 else rows


def _holds_bytes(column: Ragged) -> bool:
    inner: Any = column
    while isinstance(inner, Ragged):
        inner = inner.data
    return bool(inner.dtype == np.uint8)


def _padded(column: Ragged) -> Any:
    if not isinstance(column.data, Ragged):
        return column.to_padded()
    inner = column.data.to_padded()
    return Ragged(inner, column.row_splits).to_padded()


def _spread(column: Any, valid: NDArray[np.bool_]) -> Any:
    """Rows at their places, zeros and empty rows between them; what there are more rows than places is left out."""
    num_rows = int(valid.sum())
    if isinstance(column, np.ndarray):
        whole = np.zeros((len(valid), *column.shape[1:]), column.dtype)
        whole[valid] = column[:num_rows]
        return whole
    if isinstance(column, Ragged):
        counts = np.zeros(len(valid), np.int64)
        counts[valid] = np.diff(column.row_splits)[:num_rows]
        return Ragged(column.data[: column.row_splits[num_rows]], np.concatenate([[0], np.cumsum(counts)]))
    rows = iter(column)
    return [next(rows) if there else _empty(column) for there in valid]


def _empty(rows: list[Any]) -> Any:
    """Row without values, of the kind of the first: zero for a number, None for what has no empty form."""
    first = rows[0] if rows else None
    if isinstance(first, np.ndarray | np.generic) and not first.ndim:
        return np.zeros((), first.dtype)[()]
    if isinstance(first, bool | int | float):
        return type(first)(0)
    if isinstance(first, bytes | str | list | tuple | np.ndarray | Ragged):
        return first[:0]
    return {} if isinstance(first, dict) else None
