"""Plain values that travel between the layers: ragged arrays, frame indexes, feature lists, faults."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from recordmill import _core


@dataclass(frozen=True, eq=False, slots=True)
class Ragged:
    """Rows of different lengths in one buffer.

    Row ``i`` is ``data[row_splits[i]:row_splits[i + 1]]``. Rows of ``uint8`` data are byte strings: indexing and
    iteration give `bytes`; rows of other data are arrays, rows of a `Ragged` are `Ragged`.

    Parameters
    ----------
    data : ndarray, shape (total, ...), or Ragged of ``total`` rows
        All rows, back to back.
    row_splits : ndarray of int64, shape (num_rows + 1,)
        Rises from 0 to ``len(data)``.
    """

    data: Any
    row_splits: NDArray[np.int64]

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.row_splits) - 1

    def __getitem__(self, key: int | slice) -> Any:
        """Row at a position (negative counts from the end), or the rows of a slice of step 1 as a Ragged."""
        if isinstance(key, slice):
            start, stop, step = key.indices(len(self))
            if step != 1:
                raise ValueError(f"a Ragged slice has step 1, not {step}")
            splits = self.row_splits[start : max(start, stop) + 1]
            return Ragged(self.data[splits[0] : splits[-1]], splits - splits[0])
        position = range(len(self))[key]
        return self._row(self.row_splits[position], self.row_splits[position + 1])

    def _row(self, start: int, stop: int) -> Any:
        row = self.data[start:stop]
        return row.tobytes() if self._is_bytes() else row

    def _is_bytes(self) -> bool:
        return isinstance(self.data, np.ndarray) and self.data.dtype == np.uint8 and self.data.ndim == 1

    def __iter__(self) -> Iterator[Any]:
        """Rows in order; `bytes` if the data are bytes."""
        if self._is_bytes():
            from recordmill import _core

            return iter(_core.split(self.data, self.row_splits))
        return (self[position] for position in range(len(self)))

    @property
    def nbytes(self) -> int:
        """Bytes of data and row splits together."""
        return int(self.data.nbytes + self.row_splits.nbytes)

    def to_list(self) -> list[Any]:
        """Rows as Python values.

        Returns
        -------
        list
            `bytes` for byte rows, otherwise (nested) lists of numbers.
        """
        return [
            row if isinstance(row, bytes) else row.to_list() if isinstance(row, Ragged) else row.tolist()
            for row in self
        ]

    def to_padded(self, fill: Any = 0, length: int | None = None) -> NDArray[Any]:
        """Rows side by side in one array, short ones filled up.

        Parameters
        ----------
        fill : scalar
            Value behind the end of short rows.
        length : int, optional
            Columns of the result; the longest row by default. Longer rows are cut.

        Returns
        -------
        ndarray, shape (num_rows, length, ...)
        """
        if isinstance(self.data, Ragged):
            raise TypeError("only rows of numbers can be padded; pad the inner Ragged first")
        from recordmill import _core

        inner = self.data.shape[1:]
        filling = np.full(inner, fill, self.data.dtype).tobytes()
        if not filling:
            width = int(np.diff(self.row_splits).max(initial=0)) if length is None else length
            return np.full((len(self), width, *inner), fill, self.data.dtype)
        flat = np.ascontiguousarray(self.data).reshape(-1).view(np.uint8)
        padded, width = _core.pad(flat, np.ascontiguousarray(self.row_splits), length, filling)
        return np.frombuffer(memoryview(padded), self.data.dtype).reshape(len(self), width, *inner)

    @classmethod
    def from_blocks(cls, data: _core.Block, row_splits: _core.Block) -> Ragged:
        """Wrap bytes and row splits that the native module made, without a copy.

        Parameters
        ----------
        data, row_splits : _core.Block

        Returns
        -------
        Ragged of uint8
        """
        return cls(np.frombuffer(memoryview(data), np.uint8), np.frombuffer(memoryview(row_splits), np.int64))

    @classmethod
    def from_rows(cls, rows: list[Any]) -> Ragged:
        """Pack byte strings or arrays into one buffer.

        Parameters
        ----------
        rows : list of bytes, or list of array_like of one dtype

        Returns
        -------
        Ragged
        """
        splits = np.zeros(len(rows) + 1, np.int64)
        np.cumsum(np.fromiter(map(len, rows), np.int64, len(rows)), out=splits[1:])
        if all(issubclass(kind, bytes | bytearray | memoryview) for kind in {*map(type, rows)}):
            return cls(np.frombuffer(b"".join(rows), np.uint8), splits)
        return cls(np.concatenate([np.asarray(row) for row in rows]), splits)


@dataclass(frozen=True, eq=False, slots=True)
class FrameIndex:
    """Where the records of one shard are.

    Parameters
    ----------
    offsets : ndarray of int64, shape (num_records,)
        First byte of each frame, from the start of the uncompressed shard.
    lengths : ndarray of int64, shape (num_records,)
        Stored bytes of each frame, headers, footers and padding included.
    """

    offsets: NDArray[np.int64]
    lengths: NDArray[np.int64]

    def __len__(self) -> int:
        """Return the number of records."""
        return len(self.offsets)

    def __getitem__(self, rows: slice | NDArray[np.integer[Any]]) -> FrameIndex:
        """Return the chosen rows."""
        return FrameIndex(self.offsets[rows], self.lengths[rows])


class RecordRef(NamedTuple):
    """Place of one record.

    Parameters
    ----------
    shard : str
        Path.
    record : int
        Position in the shard, from 0.
    offset : int
        Bytes from the start of the uncompressed shard.
    """

    shard: str
    record: int
    offset: int


@dataclass(frozen=True, eq=False, slots=True)
class FeatureList:
    """The frames of one feature list of a ``SequenceExample``, to be written.

    Parameters
    ----------
    frames : sequence
        One entry per frame: a value, or a sequence of values.
    """

    frames: Sequence[Any]


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing found wrong by a check.

    Parameters
    ----------
    kind : str
        ``"payload_checksum"``, ``"truncated_header"``, … (see `docs/reference/faults.md`).
    shard : str
        Path.
    record : int or None
        Position in the shard, from 0; None where it is not one record.
    offset : int or None
        Bytes from the start of the uncompressed shard.
    message : str
        In words, with expected and found values.
    """

    kind: str
    shard: str
    record: int | None
    offset: int | None
    message: str

    def to_json(self) -> dict[str, Any]:
        """Plain form for reports.

        Returns
        -------
        dict
        """
        return {name: getattr(self, name) for name in ("kind", "shard", "record", "offset", "message")}
