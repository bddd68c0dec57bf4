"""One shard being written: payloads framed, compressed, counted; index and schema are put beside it at the end."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from recordmill import _core
from recordmill.dataclass import dataclass
from recordmill.errors import FeatureError, OutputExistsError
from recordmill.formats.base import Format
from recordmill.schema import Feature, Schema
from recordmill.shards.foreign import foreign_path, write_foreign
from recordmill.shards.index import ENTRY_SUFFIX, Keep, describe_shard, load_index, save_sidecar, sidecar_path
from recordmill.shards.opening import OpenShard, open_shard
from recordmill.shards.translate import to_error
from recordmill.storage.compression import Compression, Compressor
from recordmill.storage.local import LOCAL
from recordmill.types import FrameIndex, Ragged


@dataclass(frozen=True, slots=True)
class Framed:
    """Records in their stored form.

    Parameters
    ----------
    data : buffer of uint8
        Frames back to back.
    lengths : ndarray of int64, shape (num_records,)
        Stored bytes of each.
    checksums : ndarray of uint32, shape (num_records,), or None
        CRC-32C of each payload, for formats that have none.
    """

    data: Any
    lengths: NDArray[np.int64]
    checksums: NDArray[np.uint32] | None


def frame_payloads(format_: Format, payloads: Ragged) -> Framed:
    """Bring payloads into their stored form; may run in any thread or process.

    Parameters
    ----------
    format_ : Format
    payloads : Ragged of uint8

    Returns
    -------
    Framed

    Raises
    ------
    FramingError
        A payload that the format cannot store.
    """
    return _framed(lambda: _core.frame(payloads.data, payloads.row_splits, format_.framing.kind))


def frame_columns(format_: Format, kind: _core.PayloadKind, num_records: int, columns: Sequence[Any]) -> Framed:
    """Bring columns into the stored form of records, without a copy of the payloads in between.

    Parameters
    ----------
    format_ : Format
    kind : PayloadKind
        Of the payloads.
    num_records : int
    columns : sequence of ColumnArgs
        Their values may be files that are read when they are written.

    Returns
    -------
    Framed

    Raises
    ------
    FeatureError, FramingError
        Values that the payload, or a payload that the format cannot store.
    OSError, CoreChanged
        A file cannot be read, or changes meanwhile.
    """
    return _framed(lambda: _core.serialize_frames(kind, num_records, columns, format_.framing.kind))


def _framed(write: Callable[[], tuple[_core.Block, _core.Block, _core.Block]]) -> Framed:
    try:
        data, lengths, checksums = write()
    except _core.CoreFault as error:
        raise to_error((*error.args[:2], None, *error.args[3:]), "the output") from None
    sums = np.asarray(checksums).astype(np.uint32) if len(checksums) else None
    return Framed(memoryview(data), np.asarray(lengths), sums)


class ShardOutput:
    """A shard that nobody sees before it is whole.

    Parameters
    ----------
    path : str
        Final name.
    format_ : Format
    compression : {"gzip", "zlib"}, optional
    level : int
        Of the compression.
    overwrite : bool
        Whether a file of that name may be replaced.
    index : {"auto", "never"}
        Whether the sidecar is put beside it.
    """

    def __init__(
        self,
        path: str,
        format_: Format,
        *,
        compression: Compression | None = None,
        level: int = -1,
        overwrite: bool = False,
        index: Keep = "auto",
    ) -> None:
        if index not in get_args(Keep):
            raise ValueError(f"index is 'auto' or 'never', not {index!r}")
        self.path, self.format, self._keep = path, format_, index
        self._compression = compression
        self._compressor = None if compression is None else Compressor(compression, level)
        self._overwrite = overwrite
        self._file = LOCAL.create(path, overwrite=overwrite)
        try:
            self.refuse_existing()
        except BaseException:
            self.discard()
            raise
        self._lengths: list[NDArray[np.int64]] = []
        self._checksums: list[NDArray[np.uint32]] = []
        self.keys: list[int | str] = []
        self.num_records = 0
        self.num_bytes = 0

    def append(self, framed: Framed, keys: Sequence[int | str] | None = None) -> None:
        """Write records behind those that are there.

        Parameters
        ----------
        framed : Framed
        keys : sequence of int or str, optional
            For the index file of the format's own tools; positions by default.
        """
        count = len(framed.lengths)
        self._file.write(framed.data if self._compressor is None else self._compressor.compress(framed.data))
        self._lengths.append(framed.lengths)
        if framed.checksums is not None:
            self._checksums.append(framed.checksums)
        self.keys.extend(range(self.num_records, self.num_records + count) if keys is None else keys)
        self.num_records += count
        self.num_bytes += int(framed.lengths.sum())

    def rename(self, path: str) -> None:
        """Give the shard another final name."""
        self.path = self._file.path = path

    def finish(self) -> None:
        """Bring everything to the disk, still under the temporary name."""
        if self._compressor is not None:
            self._file.write(self._compressor.finish())
            self._compressor = None
        self._file.finish()

    def commit(self, schema: Schema | None, payload: str | None) -> None:
        """Put the shard under its final name, and its indexes beside it where they are kept.

        Parameters
        ----------
        schema : Schema or None
            Kept in the sidecar.
        payload : str or None
            Name of the payload codec, kept in the sidecar.
        """
        self._file.commit()
        LOCAL.remove(sidecar_path(self.path, ENTRY_SUFFIX))
        lengths = np.concatenate(self._lengths) if self._lengths else np.zeros(0, np.int64)
        index, end = FrameIndex(np.cumsum(lengths) - lengths, lengths), int(lengths.sum())
        shard = open_shard([self.path], self.format.name, self._compression, end + 1)
        if self._keep == "never":
            LOCAL.remove(sidecar_path(self.path))
        else:
            self._save_sidecar(shard, index, end, (schema, payload))
        if self.format.index_on_write:
            write_foreign(shard, index, self.keys)

    def _save_sidecar(
        self, shard: OpenShard, index: FrameIndex, end: int, known: tuple[Schema | None, str | None]
    ) -> None:
        # Seek points of a compressed shard are found by a pass through it.
        is_plain = self._compression is None
        sidecar = describe_shard(shard, index, end) if is_plain else load_index(shard, "never")[0]
        sidecar.schema, sidecar.payload = known
        sidecar.checksums = np.concatenate(self._checksums) if self._checksums else None
        save_sidecar(self.path, sidecar)

    def discard(self) -> None:
        """Remove what was written, unless it was committed."""
        self._file.discard()

    def refuse_existing(self) -> None:
        """Raise OutputExistsError if a file that `commit` writes is there and may not be replaced."""
        names = [self.path]
        if self.format.index is not None and self.format.index_on_write:
            names.append(foreign_path(self.path, self.format.index.suffix))
        for name in names:
            if not self._overwrite and LOCAL.exists(name):
                hint = "choose another name, or overwrite=True"
                raise OutputExistsError("the output is already there", shard=name, hint=hint)


def commit_all(outputs: Sequence[ShardOutput], schema: Schema | None, payload: str | None) -> None:
    """Put finished shards under their final names, if none of these is taken.

    Parameters
    ----------
    outputs : sequence of ShardOutput
    schema, payload
        As for `ShardOutput.commit`.

    Raises
    ------
    OutputExistsError
        A file of one of the names, or an index file that would be written beside it, is there.
    """
    for output in outputs:
        output.refuse_existing()
    for output in outputs:
        output.commit(schema, payload)


def merge_schemas(known: Schema | None, new: Schema) -> Schema:
    """Narrowest schema that fits the examples of both.

    Parameters
    ----------
    known : Schema or None
    new : Schema

    Returns
    -------
    Schema

    Raises
    ------
    FeatureError
        A feature has another kind in one than in the other.
    """
    if known is None:
        return new
    merged = {}
    for name in dict.fromkeys((*known, *new)):
        if name not in known or name not in new:
            feature = known.get(name) or new[name]
            merged[name] = _widened(feature, optional=True)
            continue
        first, second = known[name], new[name]
        if (first.kind, first.sequence) != (second.kind, second.sequence):
            message = f"feature {name!r} changes its kind"
            hint = "give the kinds: ShardWriter(..., schema=...)"
            raise FeatureError(message, kind="feature_mismatch", expected=first.kind, found=second.kind, hint=hint)
        same = first.shape == second.shape and first.optional == second.optional
        merged[name] = first if same else _widened(first, optional=first.optional or second.optional)
    return Schema(merged)


def _widened(feature: Feature, *, optional: bool) -> Feature:
    shape = (None, None) if feature.sequence else (None,)
    return Feature(feature.kind, shape, feature.sequence, optional)
