"""``tf.io.TFRecordWriter`` and ``tf_record_iterator``: record files written and read one after another."""

from __future__ import annotations

import os
import weakref
from collections.abc import Iterator
from types import TracebackType
from typing import Any, Self

import recordmill as rm
from recordmill.compat.tensorflow.core.errors import FailedPreconditionError, NotFoundError
from recordmill.compat.tensorflow.files.faults import data_loss, path_of, translated
from recordmill.compat.tensorflow.io.options import TFRecordOptions

_COMPRESSIONS = {"": None, "GZIP": "gzip", "ZLIB": "zlib"}


class _Output:
    """The file of one process; a copy that a fork made never touches it."""

    def __init__(self, path: str, options: TFRecordOptions) -> None:
        self.path, self.process = path, os.getpid()
        compression = _COMPRESSIONS[options.get_compression_type_string(options)]
        level = -1 if options.compression_level is None else options.compression_level
        self.records = rm.PayloadWriter(
            path, format="tfrecord", compression=compression, compression_level=level, index="never"
        )

    def close(self) -> None:
        if self.process == os.getpid():
            with translated(self.path):
                self.records.close()

    def discard(self) -> None:
        if self.process == os.getpid():
            self.records.discard()


class TFRecordWriter:
    """Writes records to a file, which appears under its name when the writer is closed.

    Until then, and after an exception in a ``with`` block, a file of that name stays as it was. A writer that is
    forgotten is closed when it is no longer used, and at the end of the program.
    """

    def __init__(self, path: Any, options: Any = None) -> None:
        if not isinstance(options, TFRecordOptions):
            options = TFRecordOptions(compression_type=options)
        name = path_of(path)
        folder = os.path.dirname(name)
        if folder and not os.path.isdir(folder):
            raise NotFoundError(f"{name}; No such file or directory", shard=name)
        with translated(name):
            self._output: _Output | None = _Output(name, options)
        self._finish = weakref.finalize(self, self._output.close)

    def write(self, record: Any) -> None:
        """Add a record."""
        if not isinstance(record, bytes | bytearray | str):
            raise TypeError(
                "write(): incompatible function arguments. The following argument types are supported: record: str or "
                f"bytes. Invoked with: {type(record).__name__}"
            )
        output = self._writing()
        with translated(output.path):
            output.records.write(record.encode() if isinstance(record, str) else record)

    def flush(self) -> None:
        """Hand what was written to the system, still under a temporary name."""
        output = self._writing()
        with translated(output.path):
            output.records.flush()

    def close(self) -> None:
        """Put the file under its name; a second call does nothing."""
        self._output = None
        self._finish()

    def _writing(self) -> _Output:
        if self._output is None:
            raise FailedPreconditionError("Writer is closed.")
        return self._output

    def __enter__(self) -> Self:
        """Return the writer itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close, or discard everything if the block failed."""
        if kind is not None and self._output is not None:
            self._finish.detach()
            self._output.discard()
            self._output = None
        self.close()


def tf_record_iterator(path: Any, options: Any = None) -> Iterator[bytes]:
    """Read the records of a file."""
    compression = _COMPRESSIONS[TFRecordOptions.get_compression_type_string(options)]
    name = path_of(path)
    try:
        with translated(name):
            reader = rm.PayloadReader(name, format="tfrecord", compression=compression)
    except (rm.FormatError, rm.DamageError) as error:
        raise data_loss(error, compressed=compression is not None) from error
    return _records(reader)


def _records(reader: rm.PayloadReader) -> Iterator[bytes]:
    with reader, translated(reader.path):
        while True:
            try:
                record = reader.read()
            except rm.DamageError as error:
                raise data_loss(error) from error
            if record is None:
                return
            yield record
