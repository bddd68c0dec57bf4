"""Where the samples of ImageIter come from: a record file, with or without index, or image files of a list."""

from __future__ import annotations

import os
import struct
from pathlib import Path
from typing import Any

from recordmill.compat.mxnet.base import MisuseError, MXNetError, ParameterError, translated
from recordmill.compat.mxnet.nd import array
from recordmill.compat.mxnet.recordio import MXIndexedRecordIO, MXRecordIO, unpack

Listed = dict[Any, tuple[Any, str]]


class HeaderError(MXNetError, ValueError, struct.error):
    """A record that is too short for its header, or for the labels that this promises."""


class SampleSource:
    """Labels and encoded images, one after another."""

    def __init__(
        self, path_imgrec: Any, path_imgidx: Any, path_imglist: Any, imglist: Any, path_root: Any, dtype: str
    ) -> None:
        if not path_imgrec and not path_imglist and not isinstance(imglist, list):
            raise MisuseError("one of path_imgrec, path_imglist and imglist is needed", kind="bad_parameter")
        self._root = None if path_root is None else os.fspath(path_root)
        self.listed: Listed | None = None
        if path_imglist:
            self.listed = _read_list(path_imglist, dtype)
        elif isinstance(imglist, list):
            self.listed = {str(number): _entry(entry, dtype) for number, entry in enumerate(imglist, 1)}
        self.record: MXRecordIO | None = None
        self.keys: list[Any] | None = None
        self.last: dict[str, Any] = {}
        if not path_imgrec:
            self.keys = list(self.listed or ())
        elif path_imgidx:
            self.record = MXIndexedRecordIO(path_imgidx, path_imgrec, "r")
            self.keys = list(self.record.keys)
        else:
            self.record = MXRecordIO(path_imgrec, "r")
        self.place = 0

    def restrict(self, part: int, num_parts: int, *, ordered: bool) -> None:
        """Keep one part of the samples."""
        if num_parts <= 1 and not ordered:
            return
        if self.keys is None:
            raise MisuseError("shuffle and num_parts need path_imgidx", kind="bad_parameter")
        if num_parts > 1:
            if not 0 <= part < num_parts:
                raise MisuseError("part_index is below num_parts", found=f"{part} of {num_parts}")
            length = len(self.keys) // num_parts
            self.keys = self.keys[part * length : (part + 1) * length]

    def rewind(self) -> None:
        """Begin with the first sample."""
        self.place = 0
        if self.record is not None and self.keys is None:
            self.record.reset()

    def take(self) -> tuple[Any, bytes] | None:
        """Label and encoded image of the next sample; None at the end."""
        if self.keys is None:
            return self._take_record(None)
        if self.place >= len(self.keys):
            return None
        key = self.keys[self.place]
        return self._take_file(key) if self.record is None else self._take_record(key)

    def _take_record(self, key: Any) -> tuple[Any, bytes] | None:
        record: Any = self.record
        payload = record.read() if key is None else record.read_idx(key)
        self.last = {"shard": record.uri, "record": self.place if key is None else key}
        if payload is None:
            if key is None:
                return None
            raise MXNetError("the index file leads to no record", kind="bad_index", **self.last)
        self.place += 1
        try:
            header, data = unpack(payload)
        except (struct.error, ValueError) as error:
            raise HeaderError(f"the record has no whole header: {error}", kind="bad_payload", **self.last) from error
        if self.listed is None or key is None:
            return header.label, data
        if key not in self.listed:
            raise MXNetError(f"fail to find imagelabel for id {key}", kind="bad_label", **self.last)
        return self.listed[key][0], data

    def _take_file(self, key: Any) -> tuple[Any, bytes]:
        listed: Any = self.listed
        label, name = listed[key]
        data = self.read_file(name)
        self.place += 1
        return label, data

    def read_file(self, name: str) -> bytes:
        """Bytes of a file below the root."""
        path = name if self._root is None else os.path.join(self._root, name)
        self.last = {"shard": path}
        with translated():
            return Path(path).read_bytes()


def _read_list(path: Any, dtype: str) -> Listed:
    listed: Listed = {}
    with translated():
        lines = Path(path).read_text("utf-8", "surrogateescape").split("\n")
    for number, line in enumerate(lines, 1):
        fields = line.strip().split("\t")
        if fields == [""] and number == len(lines):
            continue
        try:
            listed[int(fields[0])] = (array([float(field) for field in fields[1:-1]], dtype=dtype), fields[-1])
        except ValueError as error:
            message = f"line {number} of the image list cannot be used"
            expected = "index, labels and path, with tabulators between"
            found = repr(line[:80])
            raise ParameterError(
                message, kind="bad_list_line", shard=os.fspath(path), expected=expected, found=found
            ) from error
    return listed


def _entry(entry: Any, dtype: str) -> tuple[Any, str]:
    labels = entry[:-1] if len(entry) > 2 or isinstance(entry[0], int | float) else entry[0]
    return array(labels, dtype=dtype), entry[-1]
