"""Public writers: `ShardWriter` writes examples to shards, and `PayloadWriter` writes payloads to one file."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import replace
from types import TracebackType
from typing import Any, Self
from warnings import warn

import numpy as np
from numpy.typing import NDArray

from recordmill.concurrency.forks import ForkCounter
from recordmill.errors import WriteError
from recordmill.formats.registry import choose_format, get_format, get_payload
from recordmill.formats.values import has_unknown_kind
from recordmill.schema import Feature, Schema
from recordmill.shards.dataset_output import DatasetDescription, DatasetOutput, ShardOptions, commit_single_file
from recordmill.shards.examples import copy_example, example_type_error, serialize_examples
from recordmill.shards.index import IndexMode
from recordmill.shards.inference import merge_schemas
from recordmill.shards.output import (
    RecordSink,
    RollingSink,
    RoundRobinSink,
    ShardOutput,
    check_output_compression,
    check_payload_size,
    frame_payloads,
)
from recordmill.storage.addresses import check_output_path
from recordmill.storage.base import Storage
from recordmill.storage.choose import StorageOptions, choose_storage
from recordmill.suggestions import suggest_constructor_arguments
from recordmill.types import Ragged

# Records are collected in a chunk, which is serialized and framed in one call when it reaches one of these sizes.
_CHUNK_RECORDS = 256
_CHUNK_BYTES = 4 << 20
# With many shards, a chunk grows by up to this factor, so that each shard receives several records per chunk.
_MAX_CHUNKS = 16
# While all values of a feature are empty lists, the kind of the feature is unknown. The chunk then waits for more
# records, and grows by up to this factor.
_MAX_CHUNK_GROWTH = 16


class _WriterBase(ABC):
    """Base class of writers. It closes or discards the output, stores errors, and detects use after a fork."""

    path: str
    _is_open = False
    # The first error of `write` or `close`; `close` raises it again.
    _error: BaseException | None = None

    def __init__(self) -> None:
        # Only the process that creates the writer may write, not a child process after a fork.
        self._fork_depth = ForkCounter.depth

    def _raise_if_closed(self) -> None:
        if not self._is_open:
            raise ValueError(f"the writer of {self.path!r} is closed")
        if self._fork_depth != ForkCounter.depth:
            message = "the writer was created before a fork and belongs to the parent process"
            raise WriteError(message, shard=self.path, hint="create a writer in the process that uses it")

    def _discard_after_error(self, error: BaseException) -> None:
        """Store the error that made writing fail, and discard the incomplete output."""
        self._error = error
        self.discard()

    def close(self) -> None:
        """Write the remaining records and rename the output to its final name. A second call has no effect.

        After an error of `write` or `close`, this raises the same error again.

        Raises
        ------
        OutputExistsError
            If another program created a shard of the same name and `overwrite` is False.
        WriteError
            If a file cannot be written; no output file remains. If only an index cannot be written beside its shard,
            for example because of permissions, `close` emits a RuntimeWarning instead.
        FeatureError
            If the payload codec cannot store a value of the last chunk.
        """
        if self._error is not None:
            raise self._error
        if not self._is_open:
            return
        self._raise_if_closed()
        try:
            self._finish_and_commit()
        except BaseException as error:
            self._discard_after_error(error)
            raise
        self._is_open = False

    @abstractmethod
    def _finish_and_commit(self) -> None:
        """Write the remaining records and rename the output to its final name."""

    @abstractmethod
    def _discard_files(self) -> None:
        """Remove the files that were not committed."""

    def discard(self) -> None:
        """Remove all files that this writer has created; no effect after `close`."""
        if self._is_open and self._fork_depth == ForkCounter.depth:
            self._discard_files()
        self._is_open = False

    def __enter__(self) -> Self:
        """Return the writer."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the writer, or discard its files if the `with` block raised an exception."""
        if kind is None:
            self.close()
        else:
            self.discard()

    def __del__(self, _warn: Callable[..., None] = warn) -> None:
        """Warn if the writer was neither closed nor discarded, and remove its temporary files."""
        if self._is_open and self._fork_depth == ForkCounter.depth:
            message = f"the writer of {self.path!r} was not closed, so its records are lost; use `with` or call close()"
            _warn(message, ResourceWarning, source=self)
            self.discard()


@suggest_constructor_arguments
class ShardWriter(_WriterBase):
    """Write records to one or several shards.

    With `shards`, record ``i`` goes to shard ``i % shards``, so that shard sizes differ by at most one record. With
    `max_shard_bytes`, a new shard begins when the current one is full. The shards get their final names together, on
    `close` or at the end of the ``with`` block; after an exception no output file remains. A writer that is not closed
    loses its records and emits a ResourceWarning. A forked process cannot use the writers of its parent.

    Parameters
    ----------
    path : path
        Prefix of the shard names, or the complete name of a single shard (``train.rec``).
    format : str, optional
        Record format, such as "tfrecord", "ofrecord" or "recordio"; by default derived from the suffix of `path` (such
        as ``.rec``), else TFRecord.
    shards : int, optional
        Number of shards, 1 by default.
    max_shard_bytes : int, optional
        Maximum uncompressed bytes per shard; cannot be combined with `shards`.
    payload : str, optional
        Codec that serializes examples; by default the usual one of the format. One of "example", "sequence_example",
        "ofrecord", "irheader" or "raw".
    schema : Schema or mapping of str to Feature, optional
        Kinds and shapes that examples must have. By default they are inferred from the examples; then all values of a
        feature must have the same kind. Features that are declared as floats also accept integers that the float kind
        represents exactly.
    compression : str, optional
        Whole-file compression (TFRecord only). Either "gzip" or "zlib".
    compression_level : int
        0 to 9, or -1 for zlib's default.
    overwrite : bool
        Replace existing shards of the same prefix.
    index : str
        "auto" writes a sidecar index beside each shard. With "never", `open` builds the index when it reads the shard.
    break_lock : bool
        Whether to write even if another process has locked the destination. The lock of a dead process of this machine
        is always ignored. Use this only for the lock of a process on another machine, if you know that this process no
        longer runs.
    storage_options : mapping of str to object, optional
        Settings for an address such as ``s3://bucket/train``, as in `open`.

    Raises
    ------
    OutputExistsError
        If a shard of the same prefix exists and `overwrite` is False.
    DestinationLockedError
        If another writer is writing to the same destination.
    WriteError
        If a file cannot be written, for example because the disk is full.
    ValueError
        If an argument is not supported by the format or cannot be combined with another one.

    Examples
    --------
    >>> with rm.ShardWriter("out/train", format="tfrecord", shards=2) as writer:
    ...     for label in range(4):
    ...         writer.write({"image": Path("photo.jpg").read_bytes(), "label": label})
    >>> len(rm.open("out"))
    4
    """

    # A subclass can set this attribute to override the storage that is otherwise chosen for `path`.
    _storage: Storage | None = None

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
        break_lock: bool = False,
        storage_options: StorageOptions = None,
    ) -> None:
        super().__init__()
        if shards is not None and shards < 1:
            raise ValueError(f"shards must be a positive integer, got {shards}")
        if shards is not None and max_shard_bytes is not None:
            raise ValueError("shards= and max_shard_bytes= cannot be combined")
        self.path, self._format = check_output_path(path), choose_format(path, format)
        self._codec = get_payload(payload, self._format)
        self._declared_schema = self._schema = None if schema is None else Schema(schema)
        self._has_size_limit = max_shard_bytes is not None
        self._examples: list[Mapping[str, Any]] = []
        self._payloads: list[bytes] = []
        self._pending_bytes = 0
        self._chunk_growth = 1
        self.num_records = 0
        options = ShardOptions(compression, compression_level, overwrite, index, break_lock)
        storage = self._storage or choose_storage([self.path], storage_options, for_writing=True)
        self._dataset = DatasetOutput(storage, self.path, self._format, options)
        self._is_open = True
        try:
            self._sink = self._create_record_sink(shards or 1, max_shard_bytes)
        except BaseException:
            self.discard()
            raise

    def _create_record_sink(self, num_shards: int, max_shard_bytes: int | None) -> RecordSink:
        dataset = self._dataset
        dataset.remove_leftover_files()
        paths = dataset.shard_paths(num_shards) if max_shard_bytes is None else []
        self._chunk_records = _CHUNK_RECORDS * min(len(paths) or 1, _MAX_CHUNKS)
        dataset.check_not_existing(paths)
        if max_shard_bytes is None:
            return RoundRobinSink(paths, dataset.create_shard)
        return RollingSink(self.path, max_shard_bytes, dataset.create_shard)

    def write(self, example: Mapping[str, Any] | bytes) -> None:
        """Append one record.

        Examples are collected and serialized in chunks. An error discards all records of the writer, because a part of
        the chunk may have been written; no output file remains.

        Parameters
        ----------
        example : mapping of str to value, or bytes
            Feature values are bytes, str, numbers, sequences of these, or arrays. An example of type `bytes` is written
            as the payload, without serialization.

        Raises
        ------
        FeatureError
            If the payload codec cannot store a value of this example or of an earlier example in the same chunk, or if
            a feature mixes integers and floats and no schema declares its kind. The error names the record.
        ExampleTypeError
            If the example is neither a mapping from strings nor bytes.
        LimitError
            If the record is larger than the format can store.
        FramingError
            If the record is empty and the format is OFRecord.
        WriteError
            If the chunk cannot be written.
        ValueError
            If the writer is closed.
        """
        self._raise_if_closed()
        try:
            if isinstance(example, bytes | bytearray | memoryview):
                self._append_payload(example)
            else:
                if self._payloads:
                    self._write_pending()
                self._examples.append(copy_example(example, self.num_records + len(self._examples)))
                self._pending_bytes += sum(map(_estimate_bytes, example.values()))
            count = len(self._examples) + len(self._payloads)
            fullness = max(count / self._chunk_records, self._pending_bytes / _CHUNK_BYTES)
            if fullness < self._chunk_growth:
                return
            if self._chunk_growth < _MAX_CHUNK_GROWTH and self._has_unknown_kinds():
                self._chunk_growth *= 2
            else:
                self._write_pending()
        except BaseException as error:
            self._discard_after_error(error)
            raise

    def _append_payload(self, payload: bytes) -> None:
        if self._examples:
            self._write_pending()
        num_bytes = memoryview(payload).nbytes
        check_payload_size(self._format, num_bytes, self.num_records + len(self._payloads))
        self._payloads.append(bytes(payload))
        self._pending_bytes += num_bytes

    def _has_unknown_kinds(self) -> bool:
        """Return True if the kind of a feature is unknown, because all its values so far are empty lists."""
        if self._declared_schema is not None:
            return False
        names = {name for example in self._examples for name in example}.difference(self._schema or ())
        return any(all(has_unknown_kind(example.get(name)) for example in self._examples) for name in names)

    def _write_pending(self) -> None:
        first, count = self.num_records, len(self._examples) + len(self._payloads)
        keys: list[int | str] = list(range(first, first + count))
        payloads: Ragged | list[bytes] = self._payloads
        if self._examples:
            keys = [example.get("id", key) for example, key in zip(self._examples, keys, strict=True)]
            payloads = serialize_examples(self._codec, self._examples, self._declared_schema, first, self._schema)
            lengths = np.diff(payloads.row_splits)
            for row in (int(lengths.argmax()), int(lengths.argmin())):
                check_payload_size(self._format, int(lengths[row]), first + row)
            if self._declared_schema is None:
                self._schema = merge_schemas(self._schema, self._codec.infer_features(payloads).schema)
        self._examples, self._payloads, self._pending_bytes, self._chunk_growth = [], [], 0, 1
        self.num_records += count
        self._sink.append(frame_payloads(self._format, payloads), keys)

    def _finish_and_commit(self) -> None:
        if self._examples or self._payloads:
            self._write_pending()
        self._sink.finish()
        outputs = self._dataset.outputs
        if self._has_size_limit:
            self._dataset.rename_shards(outputs)
        payload = self._codec.name if self._schema is not None else None
        self._dataset.commit(outputs, DatasetDescription(self._schema, payload))

    def _discard_files(self) -> None:
        self._dataset.discard()

    @property
    def paths(self) -> list[str]:
        """Paths of the shards; with `max_shard_bytes`, their number and names are final only after `close`."""
        return [output.path for output in self._dataset.outputs]

    @property
    def warnings(self) -> list[str]:
        """Problems that did not prevent `close` from writing the records, such as an index that could not be saved."""
        return self._dataset.warnings


def _estimate_bytes(value: Any) -> int:
    """Return the approximate number of bytes that a value occupies in memory."""
    return len(value) if isinstance(value, bytes | bytearray | str) else getattr(value, "nbytes", 8)


@suggest_constructor_arguments
class PayloadWriter(_WriterBase):
    """Write payloads to one file with exactly the given name, and no ``.idx`` file.

    This class is for programs that choose file names and write index files themselves; `ShardWriter` does both. An
    existing file of the same name is replaced when the writer is closed. Until then, and after `discard`, it does not
    change.

    Parameters
    ----------
    path : path
        Name of the file; no suffix is added.
    format : str
        Record format, such as "tfrecord", "ofrecord" or "recordio".
    compression : str, optional
        Whole-file compression (TFRecord only). Either "gzip" or "zlib".
    compression_level : int
        0 to 9, or -1 for zlib's default.
    index : str
        "auto" writes a sidecar index beside the file. With "never", `open` builds the index when it reads the file.

    Raises
    ------
    WriteError
        If the file cannot be written, for example because the disk is full.
    ValueError
        If an argument is not supported by the format.

    Examples
    --------
    >>> with rm.PayloadWriter("my.bin", format="recordio") as writer:  # doctest: +SKIP
    ...     writer.write(b"some bytes")
    """

    # A subclass can set this attribute to override the storage that is otherwise chosen for `path`.
    _storage: Storage | None = None

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        format: str,  # noqa: A002
        compression: str | None = None,
        compression_level: int = -1,
        index: IndexMode = "auto",
    ) -> None:
        super().__init__()
        self.path = check_output_path(path)
        self._format = replace(get_format(format), index=None, index_on_write=False)
        self._pending: list[bytes] = []
        self._pending_bytes = 0
        self.num_records = 0
        self._output_storage = self._storage or choose_storage([self.path], for_writing=True)
        self._output = ShardOutput(
            self.path,
            self._format,
            storage=self._output_storage,
            compression=check_output_compression(self._format, compression),
            level=compression_level,
            overwrite=True,
            index=index,
        )
        self._is_open = True

    def write(self, payload: Any) -> None:
        """Append one record.

        Parameters
        ----------
        payload : buffer
            Bytes of the record.

        Raises
        ------
        LimitError
            If the payload is larger than the format can store. The record is skipped; the writer stays usable.
        FramingError
            If the payload is empty and the format is OFRecord. The record is skipped; the writer stays usable.
        ExampleTypeError
            If the payload is not a buffer. The record is skipped; the writer stays usable.
        WriteError
            If the records cannot be written; all records of the writer are discarded.
        ValueError
            If the writer is closed.
        """
        self._raise_if_closed()
        try:
            view = memoryview(payload)
        except TypeError:
            raise example_type_error("a payload must be bytes", "bytes", payload, self.num_records) from None
        check_payload_size(self._format, view.nbytes, self.num_records)
        data = bytes(view)
        self._pending.append(data)
        self._pending_bytes += len(data)
        self.num_records += 1
        if len(self._pending) >= _CHUNK_RECORDS or self._pending_bytes >= _CHUNK_BYTES:
            self.flush()

    def flush(self) -> None:
        """Write pending records to the temporary file; the file gets its final name on `close`."""
        if not self._pending:
            return
        self._raise_if_closed()
        payloads, self._pending, self._pending_bytes = self._pending, [], 0
        try:
            self._output.append(frame_payloads(self._format, payloads))
        except BaseException as error:
            self._discard_after_error(error)
            raise

    def tell(self) -> int:
        """Return the offset of the next record, in bytes of the uncompressed file.

        Returns
        -------
        int
        """
        self.flush()
        return self._output.num_bytes

    @property
    def offsets(self) -> NDArray[np.int64]:
        """Offset of each record, in bytes of the uncompressed file; int64, shape (num_records,)."""
        self.flush()
        return self._output.index.offsets

    def _finish_and_commit(self) -> None:
        self.flush()
        self._output.finish()
        commit_single_file(self._output_storage, self._output)

    def _discard_files(self) -> None:
        self._output.discard()

    @property
    def warnings(self) -> list[str]:
        """Problems that did not prevent `close` from writing the records, such as an index that could not be saved."""
        return self._output.warnings
