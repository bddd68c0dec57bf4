"""Plain values that travel between the layers: ragged arrays, frame indexes, features, schemas, faults."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

Kind = Literal["bytes", "float32", "float64", "int32", "int64", "uint64"]
KINDS: tuple[str, ...] = get_args(Kind)


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
        counts = np.diff(self.row_splits)
        width = int(counts.max(initial=0)) if length is None else length
        padded = np.full((len(self), width, *self.data.shape[1:]), fill, dtype=self.data.dtype)
        inside = np.arange(width) < counts[:, None]
        if length is None or width >= counts.max(initial=0):
            padded[inside] = self.data
        else:
            kept = np.minimum(counts, width)
            starts = np.repeat(self.row_splits[:-1] - np.concatenate(([0], np.cumsum(kept)[:-1])), kept)
            padded[inside] = self.data[starts + np.arange(kept.sum())]
        return padded

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
        np.cumsum([len(row) for row in rows], out=splits[1:])
        if all(isinstance(row, bytes | bytearray | memoryview) for row in rows):
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


@dataclass(frozen=True, slots=True)
class Feature:
    """What one named feature of an example holds.

    Parameters
    ----------
    kind : {"bytes", "float32", "float64", "int32", "int64", "uint64"}
        Kind of every value.
    shape : tuple of int or None
        Shape per record; ``()`` is one value, ``(None,)`` any number. In a sequence the first entry counts frames.
    sequence : bool
        Whether the feature is a feature list of a ``SequenceExample``.
    optional : bool
        Whether records may lack it; they then have no values (needs a shape that begins with None).
    default : array_like, optional
        Values of records that lack it; needs a fixed shape.
    """

    kind: Kind
    shape: tuple[int | None, ...] = ()
    sequence: bool = False
    optional: bool = False
    default: ArrayLike | bytes | None = None

    def __post_init__(self) -> None:
        """Refuse what no record could satisfy."""
        if self.kind not in KINDS:
            raise ValueError(f"kind is one of {', '.join(KINDS)}, not {self.kind!r}")
        free = self.shape[1:] if self.sequence else self.shape
        if None in free and free != (None,):
            raise ValueError(f"only a shape of (None,) may vary, per record or per frame, not {self.shape}")
        if self.sequence and (not self.shape or self.shape[0] is not None):
            raise ValueError(f"the shape of a sequence begins with None (its frames), not {self.shape}")
        if self.optional and (not self.shape or self.shape[0] is not None):
            raise ValueError("an optional feature needs a shape that begins with None, or a default instead")

    @property
    def count(self) -> int | None:
        """Values per record (per frame in a sequence); None where it varies."""
        shape = self.shape[1:] if self.sequence else self.shape
        sizes = [size for size in shape if size is not None]
        return int(np.prod(sizes, dtype=np.int64)) if len(sizes) == len(shape) else None


class Schema(Mapping[str, Feature]):
    """Names and features of the examples of a data set; immutable, ordered by name.

    Parameters
    ----------
    features : mapping of str to Feature
    """

    __slots__ = ("_features",)

    def __init__(self, features: Mapping[str, Feature]) -> None:
        self._features = dict(features)

    def __getitem__(self, name: str) -> Feature:
        """Return the feature of that name."""
        return self._features[name]

    def __iter__(self) -> Iterator[str]:
        """Names in order."""
        return iter(self._features)

    def __len__(self) -> int:
        """Return the number of features."""
        return len(self._features)

    def __repr__(self) -> str:
        """Readable form."""
        return f"Schema({self._features!r})"

    def to_json(self) -> dict[str, dict[str, Any]]:
        """Plain form for files and reports.

        Returns
        -------
        dict
            ``{name: {"kind", "shape"[, "sequence", "optional", "default"]}}``
        """
        return {name: _feature_to_json(feature) for name, feature in self._features.items()}

    @classmethod
    def from_json(cls, data: Mapping[str, Mapping[str, Any]]) -> Schema:
        """Build a schema from what `to_json` made.

        Parameters
        ----------
        data : mapping

        Returns
        -------
        Schema
        """
        return cls({name: _feature_from_json(entry) for name, entry in data.items()})


def _feature_to_json(feature: Feature) -> dict[str, Any]:
    entry: dict[str, Any] = {"kind": feature.kind, "shape": list(feature.shape)}
    entry |= {name: True for name in ("sequence", "optional") if getattr(feature, name)}
    if feature.default is not None:
        default = feature.default
        entry["default"] = {"hex": default.hex()} if isinstance(default, bytes) else np.asarray(default).tolist()
    return entry


def _feature_from_json(entry: Mapping[str, Any]) -> Feature:
    default = entry.get("default")
    if isinstance(default, Mapping):
        default = bytes.fromhex(default["hex"])
    shape = tuple(None if size is None else int(size) for size in entry["shape"])
    flags = {name: bool(entry.get(name, False)) for name in ("sequence", "optional")}
    return Feature(entry["kind"], shape, default=default, **flags)


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
