"""Writes examples or payloads to shards, one after another, under final names only when all are whole."""

from __future__ import annotations

import os
from collections.abc import Mapping
from types import TracebackType
from typing import Any, Self

from recordmill.formats.registry import format_for, get_payload
from recordmill.formats.values import has_no_kind
from recordmill.schema import Feature, Schema
from recordmill.shards.framed import frame_payloads
from recordmill.shards.index import Keep
from recordmill.shards.merging import merge_schemas
from recordmill.shards.names import shard_paths
from recordmill.shards.output import ShardOutput, commit_all
from recordmill.shards.siblings import refuse_siblings, remove_siblings
from recordmill.shards.sinks import DealtShards, RollingShards, Sink
from recordmill.storage import compression as compressions
from recordmill.types import Ragged

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
        index: Keep = "auto",
    ) -> None:
        if shards is not None and (shards < 1 or max_shard_bytes is not None):
            raise ValueError("shards is at least 1, and not given together with max_shard_bytes")
        self.path, self._format = os.fspath(path), format_for(path, format)
        self._codec = get_payload(payload, self._format)
        self._given = self._schema = None if schema is None else Schema(schema)
        self._compression = compressions.check(compression)
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
        return compressions.SUFFIXES[self._compression]

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
