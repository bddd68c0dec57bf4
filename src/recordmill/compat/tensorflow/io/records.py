"""``tf.io.TFRecordWriter``, ``tf_record_iterator`` and ``TFRecordOptions``."""

from __future__ import annotations

import os
import weakref
from collections.abc import Iterator
from types import TracebackType
from typing import Any, Self

import recordmill as rm
from recordmill.compat.tensorflow.core.errors import FailedPreconditionError, NotFoundError
from recordmill.compat.tensorflow.files.errors import to_data_loss_error, to_path_str, translate_errors

_COMPRESSIONS = {"": None, "GZIP": "gzip", "ZLIB": "zlib"}
# TensorFlow's default values of the zlib options. Other values are not supported.
_DEFAULTS = {"flush_mode": 0, "window_bits": 15, "compression_method": 8, "mem_level": 9, "compression_strategy": 0}


class TFRecordCompressionType:
    """``tf.compat.v1.io.TFRecordCompressionType``: numbers of the compression types."""

    NONE = 0
    ZLIB = 1
    GZIP = 2


class TFRecordOptions:
    """``tf.io.TFRecordOptions``: compression of a TFRecord file; buffer sizes have no effect."""

    compression_type_map = {  # noqa: RUF012 (TensorFlow's name)
        TFRecordCompressionType.ZLIB: "ZLIB",
        TFRecordCompressionType.GZIP: "GZIP",
        TFRecordCompressionType.NONE: "",
    }

    def __init__(
        self,
        compression_type: Any = None,
        flush_mode: int | None = None,
        input_buffer_size: int | None = None,
        output_buffer_size: int | None = None,
        window_bits: int | None = None,
        compression_level: int | None = None,
        compression_method: int | None = None,
        mem_level: int | None = None,
        compression_strategy: int | None = None,
    ) -> None:
        self.get_compression_type_string(compression_type)
        self.compression_type = compression_type
        self.flush_mode = flush_mode
        self.input_buffer_size = input_buffer_size
        self.output_buffer_size = output_buffer_size
        self.window_bits = window_bits
        self.compression_level = compression_level
        self.compression_method = compression_method
        self.mem_level = mem_level
        self.compression_strategy = compression_strategy
        for name, default in _DEFAULTS.items():
            if getattr(self, name) not in (None, default):
                raise NotImplementedError(f"TFRecordOptions({name}={getattr(self, name)}) is not supported")
        if compression_level is not None and not -1 <= compression_level <= 9:
            raise ValueError(f"compression_level must be between -1 and 9, got {compression_level}")

    @classmethod
    def get_compression_type_string(cls, options: Any) -> str:
        """Return the name of a compression type, given as a name, a number or `TFRecordOptions`."""
        if not options:
            return ""
        if isinstance(options, TFRecordOptions):
            return cls.get_compression_type_string(options.compression_type)
        found = cls.compression_type_map.get(options, options)
        if found not in cls.compression_type_map.values():
            raise ValueError(f'Not a valid compression_type: "{options}"')
        return str(found)


class _OutputFile:
    """Record file that is being written. In forked processes, the methods of this class have no effect."""

    def __init__(self, path: str, options: TFRecordOptions) -> None:
        self.path, self.process = path, os.getpid()
        compression = _COMPRESSIONS[options.get_compression_type_string(options)]
        level = -1 if options.compression_level is None else options.compression_level
        self.records = rm.PayloadWriter(
            path, format="tfrecord", compression=compression, compression_level=level, index="never"
        )

    def close(self) -> None:
        if self.process == os.getpid():
            with translate_errors(self.path):
                self.records.close()

    def delete_temporary_file(self) -> None:
        if self.process == os.getpid():
            self.records.discard()


class TFRecordWriter:
    """``tf.io.TFRecordWriter``: write a TFRecord file. The file appears at its path when the writer is closed.

    Until then, and after an exception in a ``with`` block, an existing file of that name is unchanged. A writer
    is also closed when it is garbage-collected or the program ends.
    """

    def __init__(self, path: Any, options: Any = None) -> None:
        if not isinstance(options, TFRecordOptions):
            options = TFRecordOptions(compression_type=options)
        name = to_path_str(path)
        folder = os.path.dirname(name)
        if folder and not os.path.isdir(folder):
            raise NotFoundError(f"{name}; No such file or directory", shard=name)
        with translate_errors(name):
            self._output: _OutputFile | None = _OutputFile(name, options)
        self._finish = weakref.finalize(self, self._output.close)

    def write(self, record: Any) -> None:
        """Append a record."""
        if not isinstance(record, bytes | bytearray | str):
            raise TypeError(f"record must be bytes or str, got {type(record).__name__}")
        output = self._require_open_output()
        with translate_errors(output.path):
            output.records.write(record.encode() if isinstance(record, str) else record)

    def flush(self) -> None:
        """Write buffered records to the temporary file. The final file appears only on `close`."""
        output = self._require_open_output()
        with translate_errors(output.path):
            output.records.flush()

    def close(self) -> None:
        """Finish the temporary file and rename it to its final path. Later calls have no effect."""
        self._output = None
        self._finish()

    def _require_open_output(self) -> _OutputFile:
        if self._output is None:
            raise FailedPreconditionError("Writer is closed.")
        return self._output

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the writer. If the ``with`` block raised an exception, discard the file instead."""
        if kind is not None and self._output is not None:
            self._finish.detach()
            self._output.delete_temporary_file()
            self._output = None
        self.close()


def tf_record_iterator(path: Any, options: Any = None) -> Iterator[bytes]:
    """``tf.compat.v1.io.tf_record_iterator``: iterate over the records of a TFRecord file."""
    compression = _COMPRESSIONS[TFRecordOptions.get_compression_type_string(options)]
    name = to_path_str(path)
    try:
        with translate_errors(name):
            reader = rm.PayloadReader(name, format="tfrecord", compression=compression)
    except (rm.FormatError, rm.DamageError) as error:
        raise to_data_loss_error(error, compressed=compression is not None) from error
    return _iterate_payloads(reader)


def _iterate_payloads(reader: rm.PayloadReader) -> Iterator[bytes]:
    with reader, translate_errors(reader.path):
        while True:
            try:
                record = reader.read()
            except rm.DamageError as error:
                raise to_data_loss_error(error) from error
            if record is None:
                return
            yield record
