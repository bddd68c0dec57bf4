"""``tf.io.TFRecordOptions``: how record files are compressed."""

from __future__ import annotations

from typing import Any

# zlib's own defaults: naming one of them changes nothing.
_DEFAULTS = {"flush_mode": 0, "window_bits": 15, "compression_method": 8, "mem_level": 9, "compression_strategy": 0}


class TFRecordCompressionType:
    """Numbers that stand for kinds of compression."""

    NONE = 0
    ZLIB = 1
    GZIP = 2


class TFRecordOptions:
    """How a record file is compressed."""

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
                raise NotImplementedError(f"TFRecordOptions: {name}={getattr(self, name)} is not supported")
        if compression_level is not None and not -1 <= compression_level <= 9:
            raise ValueError(f"compression_level is from 0 to 9, or -1, not {compression_level}")

    @classmethod
    def get_compression_type_string(cls, options: Any) -> str:
        """Name of a kind of compression."""
        if not options:
            return ""
        if isinstance(options, TFRecordOptions):
            return cls.get_compression_type_string(options.compression_type)
        found = cls.compression_type_map.get(options, options)
        if found not in cls.compression_type_map.values():
            raise ValueError(f'Not a valid compression_type: "{options}"')
        return str(found)
