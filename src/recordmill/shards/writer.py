"""One shard being written: payloads framed, compressed, counted; index and schema are put beside it at the end."""

from __future__ import annotations

import contextlib
import os
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from types import TracebackType
from typing import Any, Protocol, Self, get_args

import numpy as np
from numpy.typing import NDArray

from recordmill import _core
from recordmill.errors import WriteError
from recordmill.formats.base import Format, IndexCodec
from recordmill.formats.registry import format_for, get_format, get_payload
from recordmill.formats.values import has_no_kind
from recordmill.schema import Feature, Schema
from recordmill.shards.foreign_index import foreign_index_path
from recordmill.shards.index import (
    ENTRY_POINTS_SUFFIX,
    SIDECAR_SUFFIX,
    IndexMode,
    build_sidecar,
    cache_path,
    load_index,
    sidecar_path,
)
from recordmill.shards.inference import merge_schemas
from recordmill.shards.native_errors import convert_error
from recordmill.shards.open import open_shard
from recordmill.shards.shard_names import refuse_siblings, remove_siblings, shard_paths
from recordmill.shards.sidecar import to_bytes
from recordmill.storage.base import OutputFile, output_exists, write_temporary
from recordmill.storage.compression import SUFFIXES, Compression, Compressor, check_compression
from recordmill.storage.local import LOCAL
from recordmill.types import FrameIndex, Ragged


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
        index: IndexMode = "auto",
    ) -> None:
        if index not in get_args(IndexMode):
            raise ValueError(f"index is 'auto' or 'never', not {index!r}")
        self.path, self.format, self._keep = path, format_, index
        self._compression = compression
        self._compressor = None if compression is None else Compressor(compression, level)
        self._overwrite = overwrite
        self._file = LOCAL.create(path, overwrite=overwrite)
        self._beside: list[OutputFile] = []
        self._committed: list[str] = []
        try:
            self.refuse_existing()
        except BaseException:
            self.discard()
            raise
        self._lengths, self._checksums = array("q"), array("I")
        self._keys: list[int | str] = []
        self.num_records = 0
        self.num_bytes = 0

    def append(self, framed: Framed, keys: Sequence[int | str] | None = None) -> None:
        """Write records behind those that are there."""
        count = len(framed.lengths)
        self._file.write(framed.data if self._compressor is None else self._compressor.compress(framed.data))
        self._lengths.frombytes(framed.lengths.tobytes())
        if framed.checksums is not None:
            self._checksums.frombytes(framed.checksums.tobytes())
        if self._own_index is not None:
            self._keys.extend(range(self.num_records, self.num_records + count) if keys is None else keys)
        self.num_records += count
        self.num_bytes += int(framed.lengths.sum())

    @property
    def index(self) -> FrameIndex:
        """Where the records written so far are."""
        lengths = np.array(self._lengths)
        return FrameIndex(np.cumsum(lengths) - lengths, lengths)

    @property
    def _own_index(self) -> IndexCodec | None:
        """Index of the format's own tools, if it is written with every shard."""
        return self.format.index if self.format.index_on_write else None

    def rename(self, path: str) -> None:
        """Give the shard another final name."""
        self.path = self._file.path = path

    def finish(self) -> None:
        """Bring everything to the disk, still under the temporary name."""
        if self._compressor is not None:
            self._file.write(self._compressor.finish())
            self._compressor = None
        self._file.finish()

    def prepare(self, schema: Schema | None, payload: str | None) -> None:
        """Write what stands beside the finished shard, under temporary names too, so that `commit` only renames."""
        index = self.index
        if self._keep == "auto":
            self._prepare_sidecar(index, self.num_bytes, (schema, payload))
        if self._own_index is not None:
            text = self._own_index.write(index, self._keys)
            path = foreign_index_path(self.path, self._own_index.suffix)
            self._beside.append(write_temporary(LOCAL, path, text, overwrite=self._overwrite))

    def _prepare_sidecar(self, index: FrameIndex, end: int, known: tuple[Schema | None, str | None]) -> None:
        shard = open_shard([self._file.temporary], self.format.name, self._compression, end + 1)
        # Seek points of a compressed shard are found by a pass through it.
        is_plain = self._compression is None
        sidecar = build_sidecar(shard, index, end) if is_plain else load_index(shard, "never")[0]
        sidecar.schema, sidecar.payload = known
        sidecar.checksums = np.array(self._checksums) if self._checksums else None
        data = to_bytes(sidecar)
        for place in (sidecar_path(self.path), cache_path(self.path)):
            with contextlib.suppress(OSError):
                self._beside.append(write_temporary(LOCAL, place, data, overwrite=True))
                break

    def commit(self) -> None:
        """Put the shard under its final name."""
        if self._overwrite:
            self._remove_kept()
        self._commit(self._file)
        if not self._overwrite:  # only now is it certain that no other writer has the name
            self._remove_kept()

    def commit_beside(self) -> None:
        """Put what was prepared beside the shard."""
        for file in self._beside:
            self._commit(file)

    def _commit(self, file: OutputFile) -> None:
        file.commit()
        self._committed.append(file.path)

    def _remove_kept(self) -> None:
        names = [sidecar_path(self.path, suffix) for suffix in (SIDECAR_SUFFIX, ENTRY_POINTS_SUFFIX)]
        if self._overwrite and self.format.index is not None:
            names.append(foreign_index_path(self.path, self.format.index.suffix))
        for name in names:
            LOCAL.remove(name)
        for suffix in (SIDECAR_SUFFIX, ENTRY_POINTS_SUFFIX):
            with contextlib.suppress(WriteError):  # somebody else's cache: the shard does not fit it
                LOCAL.remove(cache_path(self.path, suffix))

    def withdraw(self) -> None:
        """Remove what was committed, unless it may have replaced other files."""
        if not self._overwrite:
            for path in self._committed:
                with contextlib.suppress(WriteError):
                    LOCAL.remove(path)

    def discard(self) -> None:
        """Remove what was written, unless it was committed."""
        for file in (self._file, *self._beside):
            file.discard()

    def refuse_existing(self) -> None:
        """Raise OutputExistsError if a file that `commit` writes is there and may not be replaced."""
        names = [self.path]
        if self._own_index is not None:
            names.append(foreign_index_path(self.path, self._own_index.suffix))
        for name in names:
            if not self._overwrite and LOCAL.exists(name):
                raise output_exists(name)


def commit_all(outputs: Sequence[ShardOutput], schema: Schema | None, payload: str | None) -> None:
    """Put finished shards under their final names, if none of these is taken: all, or none of them."""
    for output in outputs:
        output.refuse_existing()
    for output in outputs:
        output.prepare(schema, payload)
    try:
        for output in outputs:
            output.commit()
        for output in outputs:
            output.commit_beside()
    except BaseException:
        for output in outputs:
            output.withdraw()
        raise


Open = Callable[[str], ShardOutput]


class Sink(Protocol):
    """Takes frames in their order."""

    outputs: list[ShardOutput]

    def append(self, framed: Framed, keys: list[int | str]) -> None:
        """Write frames."""
        ...

    def finish(self) -> None:
        """Bring everything to the disk, still under temporary names."""
        ...


class OneShard:
    """One shard, begun when it is first written to.

    Parameters
    ----------
    path : str
        Final name.
    begin : callable
        Makes the output of a name.
    """

    def __init__(self, path: str, begin: Open) -> None:
        self._path, self._begin = path, begin
        self.outputs: list[ShardOutput] = []

    def append(self, framed: Framed, keys: list[int | str]) -> None:
        """Write frames."""
        self._only().append(framed, keys)

    def finish(self) -> None:
        """Bring the shard to the disk; an empty one too."""
        self._only().finish()

    def _only(self) -> ShardOutput:
        if not self.outputs:
            self.outputs.append(self._begin(self._path))
        return self.outputs[0]


class DealtShards:
    """Shards that get frames in turn: frame ``i`` goes to shard ``i`` modulo their number.

    Parameters
    ----------
    paths : sequence of str
        Final names.
    begin : callable
        Makes the output of a name.
    """

    def __init__(self, paths: Sequence[str], begin: Open) -> None:
        self.outputs = [begin(path) for path in paths]
        self._next = 0

    def append(self, framed: Framed, keys: list[int | str]) -> None:
        """Write frames."""
        count, step = len(framed.lengths), len(self.outputs)
        first, self._next = self._next, (self._next + count) % step
        for start, part in enumerate(dealt(framed, step)):
            self.outputs[(first + start) % step].append(part, keys[start::step])

    def finish(self) -> None:
        """Bring all shards to the disk."""
        for output in self.outputs:
            output.finish()


class RollingShards:
    """Shards that end when the next frame would make them larger than a limit.

    Parameters
    ----------
    prefix : str
        Beginning of the names until the number of shards is known.
    max_bytes : int
        Uncompressed bytes of a shard; a frame that is larger makes a shard of its own.
    begin : callable
        Makes the output of a name.
    """

    def __init__(self, prefix: str, max_bytes: int, begin: Open) -> None:
        self._prefix, self._max_bytes, self._begin = prefix, max_bytes, begin
        self.outputs: list[ShardOutput] = []

    def append(self, framed: Framed, keys: list[int | str]) -> None:
        """Write frames, to new shards where they are full."""
        lengths = framed.lengths.tolist()
        first = first_byte = end_byte = 0
        free = self._max_bytes - self.outputs[-1].num_bytes if self.outputs else -1
        for row, length in enumerate(lengths):
            if end_byte + length - first_byte > free:
                if row > first:
                    self._write(framed, keys, (first, row), (first_byte, end_byte))
                if not self.outputs or self.outputs[-1].num_records:
                    self._roll()
                first, first_byte, free = row, end_byte, max(self._max_bytes, length)
            end_byte += length
        if len(lengths) > first:
            self._write(framed, keys, (first, len(lengths)), (first_byte, end_byte))

    def _roll(self) -> None:
        if self.outputs:
            self.outputs[-1].finish()
        self.outputs.append(self._begin(f"{self._prefix}-{len(self.outputs)}"))

    def _write(self, framed: Framed, keys: list[int | str], rows: tuple[int, int], span: tuple[int, int]) -> None:
        checksums = None if framed.checksums is None else framed.checksums[slice(*rows)]
        part = Framed(framed.data[slice(*span)], framed.lengths[slice(*rows)], checksums)
        self.outputs[-1].append(part, keys[slice(*rows)])

    def finish(self) -> None:
        """Bring the last shard to the disk; there is one at least."""
        if not self.outputs:
            self._roll()
        self.outputs[-1].finish()


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


def dealt(framed: Framed, num_parts: int) -> Iterator[Framed]:
    """Records dealt out in turn: part ``i`` has the records ``i``, ``i + num_parts`` and so on."""
    if num_parts == 1:
        yield framed
        return
    ends = np.cumsum(framed.lengths).tolist()
    frames = [framed.data[start:end] for start, end in pairwise([0, *ends])]
    for part in range(min(num_parts, len(frames))):
        rows = slice(part, None, num_parts)
        checksums = None if framed.checksums is None else framed.checksums[rows]
        yield Framed(b"".join(frames[rows]), framed.lengths[rows], checksums)


def frame_payloads(format_: Format, payloads: Ragged | list[bytes]) -> Framed:
    """Bring payloads into their stored form; may run in any thread or process."""
    if isinstance(payloads, list):
        return _framed(lambda: _core.frame_each(tuple(payloads), format_.framing.kind))
    return _framed(lambda: _core.frame(payloads.data, payloads.row_splits, format_.framing.kind))


def frame_columns(format_: Format, kind: _core.PayloadKind, num_records: int, columns: Sequence[Any]) -> Framed:
    """Bring columns into the stored form of records, without a copy of the payloads in between."""
    return _framed(lambda: _core.serialize_frames(kind, num_records, columns, format_.framing.kind))


def _framed(write: Callable[[], tuple[_core.Block, _core.Block, _core.Block]]) -> Framed:
    try:
        data, lengths, checksums = write()
    except _core.CoreFault as error:
        raise convert_error((*error.args[:2], None, *error.args[3:]), "the output") from None
    sums = np.asarray(checksums).astype(np.uint32) if len(checksums) else None
    return Framed(memoryview(data), np.asarray(lengths), sums)


# Examples that are serialized in one call, and payload bytes after which it is called anyway.
_CHUNK_RECORDS = 256
_CHUNK_BYTES = 4 << 20
# Chunks of so many shards are written as one, so that each shard gets several records at a time.
_MOST_CHUNKS = 16
# So many times longer it may become while a feature has had no value that tells its kind.
_PATIENCE = 16


class ShardWriter:
    """Writes records to one or several shards.

    With `shards`, record ``i`` goes to shard ``i % shards``, so that sizes differ by at most one. With
    `max_shard_bytes`, a new shard begins when the current one is full. Nothing stands under a final name before
    `close`, or the end of the ``with`` block; after an exception nothing does.

    Parameters
    ----------
    path : path
        Beginning of the shards' names, or the name of the one shard (``train.rec``).
    format : {"tfrecord", "ofrecord", "recordio"}, optional
        By default the one whose files end like `path` (``train.rec``), TFRecord where none does.
    shards : int, optional
        Number of shards; 1 by default.
    max_shard_bytes : int, optional
        Uncompressed bytes after which a shard is full; instead of `shards`.
    payload : {"example", "sequence_example", "ofrecord", "irheader", "raw"}, optional
        How examples become bytes; what is usual in the format by default.
    schema : Schema or mapping of str to Feature, optional
        Kinds and shapes that examples must have; found from the examples otherwise.
    compression : {"gzip", "zlib"}, optional
        Whole-file compression (TFRecord only).
    compression_level : int
        0 to 9, -1 for the usual one.
    overwrite : bool
        Whether shards of these names may be replaced.
    index : {"auto", "never"}
        Whether the index that `open` uses is put beside each shard; without it, the first to open them makes it.

    Raises
    ------
    OutputExistsError
        A shard of that name is there.
    WriteError
        The folder cannot be written to, or the disk is full.

    Examples
    --------
    >>> with ShardWriter("out/train", format="tfrecord", shards=8) as writer:  # doctest: +SKIP
    ...     writer.write({"image": jpeg_bytes, "label": 3})
    """

    def __init__(  # noqa: PLR0913 (the options of one writer)
        self,
        path: str | os.PathLike[str],
        *,
        format: str | None = None,  # noqa: A002
        shards: int | None = None,
        max_shard_bytes: int | None = None,
        payload: str | None = None,
        schema: Schema | Mapping[str, Feature] | None = None,
        compression: str | None = None,
        compression_level: int = -1,
        overwrite: bool = False,
        index: IndexMode = "auto",
    ) -> None:
        if shards is not None and (shards < 1 or max_shard_bytes is not None):
            raise ValueError("shards is at least 1, and not given together with max_shard_bytes")
        self.path, self._format = os.fspath(path), format_for(path, format)
        self._codec = get_payload(payload, self._format)
        self._given = self._schema = None if schema is None else Schema(schema)
        self._compression = check_compression(compression)
        if self._compression is not None and not self._format.compressible:
            raise ValueError(f"{self._format.name} is not compressed: its readers could not read it")
        self._level, self._overwrite, self._keep = compression_level, overwrite, index
        self._is_rolling = max_shard_bytes is not None
        self._examples: list[Mapping[str, Any]] = []
        self._payloads: list[bytes] = []
        self._pending_bytes = 0
        self._full = 1  # chunks of the usual length that are written as one
        self._outputs: list[ShardOutput] = []
        self._closed = False
        self.num_records = 0
        names = self._names(shards or 1) if max_shard_bytes is None else []
        self._chunk_records = _CHUNK_RECORDS * min(len(names) or 1, _MOST_CHUNKS)
        if not overwrite:
            refuse_siblings(self.path, self._format, self._suffix, names)
        if max_shard_bytes is None:
            self._sink: Sink = DealtShards(names, self._begin)
        else:
            self._sink = RollingShards(self.path, max_shard_bytes, self._begin)

    def _names(self, num_shards: int) -> list[str]:
        return shard_paths(self.path, self._format, num_shards, self._suffix)

    @property
    def _suffix(self) -> str:
        return SUFFIXES[self._compression]

    def _begin(self, name: str) -> ShardOutput:
        how = {"compression": self._compression, "level": self._level}
        try:
            output = ShardOutput(name, self._format, overwrite=self._overwrite, index=self._keep, **how)  # type: ignore[arg-type]
            self._outputs.append(output)
        except BaseException:
            self.discard()
            raise
        return self._outputs[-1]

    def write(self, example: Mapping[str, Any] | bytes) -> None:
        """Add one record.

        Parameters
        ----------
        example : mapping of str to value, or bytes
            Values are bytes, str, numbers, sequences of them or arrays; `bytes` are written as a payload, as they are.

        Raises
        ------
        FeatureError
            A value that the payload cannot hold; raised when the chunk that the example belongs to is serialized.
        """
        if self._closed:
            raise ValueError(f"the writer of {self.path!r} is closed")
        if isinstance(example, bytes | bytearray | memoryview):
            if self._examples:
                self._flush()
            self._payloads.append(bytes(example))
            self._pending_bytes += len(self._payloads[-1])
        else:
            if self._payloads:
                self._flush()
            self._examples.append(dict(example))
            self._pending_bytes += sum(map(_num_bytes, example.values()))
        count = len(self._examples) + len(self._payloads)
        full = max(count / self._chunk_records, self._pending_bytes / _CHUNK_BYTES)
        if full < self._full:
            return
        if self._full < _PATIENCE and self._lacks_kinds():
            self._full *= 2
        else:
            self._flush()

    def _lacks_kinds(self) -> bool:
        """Whether nothing yet tells the kind of some feature, of which there were only empty lists."""
        if self._given is not None:
            return False
        names = {name for example in self._examples for name in example}.difference(self._schema or ())
        return any(all(has_no_kind(example.get(name)) for example in self._examples) for name in names)

    def _flush(self) -> None:
        first, count = self.num_records, len(self._examples) + len(self._payloads)
        keys: list[int | str] = list(range(first, first + count))
        payloads: Ragged | list[bytes] = self._payloads
        if self._examples:
            keys = [example.get("id", key) for example, key in zip(self._examples, keys, strict=True)]
            payloads = self._codec.serialize(self._examples, self._given, first, self._schema)
            if self._given is None:
                self._schema = merge_schemas(self._schema, self._codec.infer(payloads).schema)
        self._examples, self._payloads, self._pending_bytes, self._full = [], [], 0, 1
        self.num_records += count
        self._sink.append(frame_payloads(self._format, payloads), keys)

    def close(self) -> None:
        """Write what is left, and put all shards under their final names."""
        if self._closed:
            return
        try:
            if self._examples or self._payloads:
                self._flush()
            self._closed = True
            self._sink.finish()
            if self._is_rolling:
                for output, name in zip(self._outputs, self._names(len(self._outputs)), strict=True):
                    output.rename(name)
            commit_all(self._outputs, self._schema, self._codec.name if self._schema is not None else None)
            if self._overwrite:
                remove_siblings(self.path, self._format, self._suffix, self.paths)
        except BaseException:
            self.discard()
            raise

    def discard(self) -> None:
        """Remove everything that was written and not yet put under its final name."""
        self._closed = True
        for output in self._outputs:
            output.discard()

    @property
    def paths(self) -> list[str]:
        """Final names of the shards."""
        return [output.path for output in self._outputs]

    def __enter__(self) -> Self:
        """Return the writer itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close, or discard everything if the block failed."""
        if kind is None:
            self.close()
        else:
            self.discard()


def _num_bytes(value: Any) -> int:
    """About how much memory a value keeps until it is written."""
    return len(value) if isinstance(value, bytes | bytearray | str) else getattr(value, "nbytes", 8)


# Payloads that are framed in one call, and bytes after which it is called anyway.
_BUFFERED_RECORDS = 256
_BUFFERED_BYTES = 4 << 20


class PayloadWriter:
    """Writes payloads to one file, under the very name given and without the index file of the format's own tools.

    For programs that name files and keep index files by themselves; `ShardWriter` does both. A file of that name is
    replaced when the writer is closed; until then, and after `discard`, it stays as it was.

    Parameters
    ----------
    path : path
        Any name; nothing is put behind it.
    format : {"tfrecord", "ofrecord", "recordio"}
    compression : {"gzip", "zlib"}, optional
        Whole-file compression (TFRecord only).
    compression_level : int
        0 to 9, -1 for the usual one.
    index : {"auto", "never"}
        Whether the index that `open` uses is put beside the file; without it, the first to open the file makes it.

    Raises
    ------
    WriteError
        The folder cannot be written to, or the disk is full.

    Examples
    --------
    >>> with PayloadWriter("out/my.bin", format="recordio") as writer:  # doctest: +SKIP
    ...     writer.write(b"some bytes")
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        format: str,  # noqa: A002
        compression: str | None = None,
        compression_level: int = -1,
        index: IndexMode = "auto",
    ) -> None:
        found = get_format(format)
        wanted = check_compression(compression)
        if wanted is not None and not found.compressible:
            raise ValueError(f"{format} is not compressed: its readers could not read it")
        self.path, self._format = os.fspath(path), replace(found, index=None, index_on_write=False)
        self._pending: list[bytes] = []
        self._pending_bytes = 0
        self._closed = False
        self.num_records = 0
        options = {"compression": wanted, "level": compression_level, "overwrite": True, "index": index}
        self._output = ShardOutput(self.path, self._format, **options)  # type: ignore[arg-type]

    def write(self, payload: Any) -> None:
        """Add one record.

        Parameters
        ----------
        payload : buffer

        Raises
        ------
        FramingError
            A payload that is larger than the format stores; it is left out, and others may follow.
        """
        if self._closed:
            raise ValueError(f"the writer of {self.path!r} is closed")
        data = bytes(payload)
        if len(data) >= _BUFFERED_BYTES:
            self.flush()
            self._append([data])
        else:
            self._pending.append(data)
            self._pending_bytes += len(data)
        self.num_records += 1
        if len(self._pending) >= _BUFFERED_RECORDS or self._pending_bytes >= _BUFFERED_BYTES:
            self.flush()

    def flush(self) -> None:
        """Frame what was written so far and hand it to the system, still under a temporary name."""
        if self._pending:
            payloads, self._pending, self._pending_bytes = self._pending, [], 0
            self._append(payloads)

    def _append(self, payloads: list[bytes]) -> None:
        self._output.append(frame_payloads(self._format, payloads))

    def tell(self) -> int:
        """Bytes that all records so far take, uncompressed: where the next one begins."""
        self.flush()
        return self._output.num_bytes

    @property
    def offsets(self) -> NDArray[np.int64]:
        """Where each record begins, in bytes of the uncompressed file; shape (num_records,)."""
        self.flush()
        return self._output.index.offsets

    def close(self) -> None:
        """Put the file under its name; a second call does nothing."""
        if self._closed:
            return
        try:
            self.flush()
            self._closed = True
            self._output.finish()
            commit_all([self._output], None, None)
        except BaseException:
            self.discard()
            raise

    def discard(self) -> None:
        """Forget everything that was written, unless the writer was closed."""
        self._closed = True
        self._output.discard()

    def __enter__(self) -> Self:
        """Return the writer itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close, or discard everything if the block failed."""
        if kind is None:
            self.close()
        else:
            self.discard()
