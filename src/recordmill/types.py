"""Data classes that several subpackages use: ragged arrays, frame indexes, feature lists and faults."""

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
    """Rows of different lengths, stored in one array.

    Row ``i`` is ``data[row_splits[i]:row_splits[i + 1]]``. If `data` is a one-dimensional array of ``uint8``, indexing
    and iteration return rows as `bytes`. Otherwise rows are arrays, or `Ragged` if `data` is a `Ragged`.

    Parameters
    ----------
    data : ndarray, shape (total, ...), or Ragged with ``total`` rows
        Concatenation of all rows.
    row_splits : ndarray of int64, shape (num_rows + 1,)
        Start of each row, then the end of the last one; increases from 0 to ``len(data)``.
    """

    data: Any
    row_splits: NDArray[np.int64]

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.row_splits) - 1

    def __getitem__(self, key: int | slice) -> Any:
        """Return the row at a position (negative counts from the end), or the rows of a slice as a Ragged."""
        if isinstance(key, slice):
            start, stop, step = key.indices(len(self))
            if step != 1:
                raise ValueError(f"the step of a slice of a Ragged must be 1, got {step}")
            splits = self.row_splits[start : max(start, stop) + 1]
            return Ragged(self.data[splits[0] : splits[-1]], splits - splits[0])
        position = range(len(self))[key]
        return self._slice_row(self.row_splits[position], self.row_splits[position + 1])

    def _slice_row(self, start: int, stop: int) -> Any:
        row = self.data[start:stop]
        return row.tobytes() if self._is_bytes() else row

    def _is_bytes(self) -> bool:
        return isinstance(self.data, np.ndarray) and self.data.dtype == np.uint8 and self.data.ndim == 1

    def __iter__(self) -> Iterator[Any]:
        """Iterate over the rows."""
        if self._is_bytes():
            from recordmill import _core

            return iter(_core.split(self.data, self.row_splits))
        return (self[position] for position in range(len(self)))

    @property
    def nbytes(self) -> int:
        """Total size of `data` and `row_splits` in bytes."""
        return int(self.data.nbytes + self.row_splits.nbytes)

    def to_list(self) -> list[Any]:
        """Return the rows as a list of Python objects.

        Returns
        -------
        list
            One `bytes` object or one (nested) list of numbers per row.
        """
        return [
            row if isinstance(row, bytes) else row.to_list() if isinstance(row, Ragged) else row.tolist()
            for row in self
        ]

    def to_padded(self, fill: Any = 0, length: int | None = None) -> NDArray[Any]:
        """Return the rows in one array, padded to the same length.

        Parameters
        ----------
        fill : scalar, default 0
            Value that follows the end of short rows.
        length : int, optional
            Length of the padded rows; by default the length of the longest row. Longer rows are truncated.

        Returns
        -------
        ndarray
            Array of the dtype of `data`, with shape (num_rows, length, ...).

        Raises
        ------
        TypeError
            If `data` is a `Ragged`.
        """
        if isinstance(self.data, Ragged):
            raise TypeError("to_padded() requires rows of numbers, got a nested Ragged; pad its `data` first")
        from recordmill import _core

        inner = self.data.shape[1:]
        fill_bytes = np.full(inner, fill, self.data.dtype).tobytes()
        if not fill_bytes:
            width = int(np.diff(self.row_splits).max(initial=0)) if length is None else length
            return np.full((len(self), width, *inner), fill, self.data.dtype)
        flat = np.ascontiguousarray(self.data).reshape(-1).view(np.uint8)
        padded, width = _core.pad(flat, np.ascontiguousarray(self.row_splits), length, fill_bytes)
        return np.frombuffer(memoryview(padded), self.data.dtype).reshape(len(self), width, *inner)

    @classmethod
    def from_blocks(cls, data: _core.Block, row_splits: _core.Block) -> Ragged:
        """Create a Ragged of bytes from memory of the native module, without a copy.

        Parameters
        ----------
        data : _core.Block
            Concatenation of all rows.
        row_splits : _core.Block
            Row splits as 64-bit integers.

        Returns
        -------
        Ragged
            Its data are of type ``uint8``.
        """
        return cls(np.frombuffer(memoryview(data), np.uint8), np.frombuffer(memoryview(row_splits), np.int64))

    @classmethod
    def from_rows(cls, rows: list[Any]) -> Ragged:
        """Create a Ragged whose rows are copies of byte strings or arrays.

        Parameters
        ----------
        rows : list of bytes, or list of array_like
            Rows; arrays must agree in all dimensions but the first.

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
    """Offsets and lengths of the frames of one shard.

    A frame is a record as it is stored: header, payload, footer and padding.

    Parameters
    ----------
    offsets : ndarray of int64, shape (num_records,)
        Start of each frame in bytes from the start of the uncompressed shard.
    lengths : ndarray of int64, shape (num_records,)
        Length of each frame in bytes.
    """

    offsets: NDArray[np.int64]
    lengths: NDArray[np.int64]

    def __len__(self) -> int:
        """Return the number of records."""
        return len(self.offsets)

    def __getitem__(self, rows: slice | NDArray[np.integer[Any]]) -> FrameIndex:
        """Return a `FrameIndex` with only the frames at `rows`, which is a slice or an array of positions."""
        return FrameIndex(self.offsets[rows], self.lengths[rows])


class RecordRef(NamedTuple):
    """Location of one record: shard, position in the shard, and byte offset.

    Parameters
    ----------
    shard : str
        Path of the shard.
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
    """Feature value that a writer stores as a feature list of a ``SequenceExample``.

    Parameters
    ----------
    frames : sequence
        One entry per frame: a value or a sequence of values.
    """

    frames: Sequence[Any]


@dataclass(frozen=True, slots=True)
class Fault:
    """One problem that `verify` found.

    Parameters
    ----------
    kind : str
        Machine-readable kind, such as ``"payload_checksum"`` or ``"truncated_header"``.
    shard : str
        Path of the shard.
    record : int or None
        Position of the record in the shard, from 0; None if the fault does not belong to one record.
    offset : int or None
        Bytes from the start of the uncompressed shard.
    message : str
        Description with the expected and the found value.
    """

    kind: str
    shard: str
    record: int | None
    offset: int | None
    message: str

    def to_json(self) -> dict[str, Any]:
        """Return the fault as a dict that can be written as JSON.

        Returns
        -------
        dict
            The attributes by name.
        """
        return {name: getattr(self, name) for name in ("kind", "shard", "record", "offset", "message")}

    def __str__(self) -> str:
        """Return the shard, record, offset, kind and message of the fault on one line."""
        location = [f"{name} {getattr(self, name)}" for name in ("record", "offset") if getattr(self, name) is not None]
        return ": ".join([", ".join([self.shard, *location]), self.kind, self.message])


@dataclass(slots=True)
class Traffic:
    """Number of requests to remote storage, and number of bytes that were read.

    Parameters
    ----------
    requests, retries : int
        Number of requests, and how many of them were retries.
    num_bytes : int
        Bytes that were received.
    cached_bytes : int
        Bytes that were read from the cache instead.
    """

    requests: int = 0
    retries: int = 0
    num_bytes: int = 0
    cached_bytes: int = 0

    def __add__(self, other: Traffic) -> Traffic:
        """Add the numbers of two `Traffic` objects."""
        return Traffic(*(getattr(self, name) + getattr(other, name) for name in self.__slots__))

    def __sub__(self, other: Traffic) -> Traffic:
        """Subtract the numbers of an earlier `Traffic`, to get the traffic since then."""
        return Traffic(*(getattr(self, name) - getattr(other, name) for name in self.__slots__))
