"""The samples of ImageIter: records with or without an index file, or image files of a list."""

from __future__ import annotations

import os
import struct
from pathlib import Path
from typing import Any

from recordmill.compat.mxnet.base import MisuseError, MXNetError, ParameterError, translated
from recordmill.compat.mxnet.nd import array
from recordmill.compat.mxnet.recordio import MXIndexedRecordIO, MXRecordIO, unpack

# Labels and file name of each key.
ListedImages = dict[Any, tuple[Any, str]]


class HeaderError(MXNetError, ValueError, struct.error):
    """A record that is too short for its header or its labels."""


class SampleSource:
    """Labels and encoded images, one after another."""

    def __init__(
        self, path_imgrec: Any, path_imgidx: Any, path_imglist: Any, imglist: Any, path_root: Any, dtype: str
    ) -> None:
        if not path_imgrec and not path_imglist and not isinstance(imglist, list):
            raise MisuseError("path_imgrec, path_imglist or imglist must be given", kind="bad_parameter")
        self._root = "" if path_root is None else os.fspath(path_root)
        self.listed: ListedImages | None = None
        if path_imglist:
            self.listed = _read_list(path_imglist, dtype)
        elif isinstance(imglist, list):
            self.listed = {str(number): _parse_entry(entry, dtype) for number, entry in enumerate(imglist, 1)}
        self.record: MXRecordIO | None = None
        self.keys: list[Any] | None = None
        # Shard and record of the last sample, for errors.
        self.last: dict[str, Any] = {}
        if not path_imgrec:
            self.keys = list(self.listed or ())
        elif path_imgidx:
            self.record = MXIndexedRecordIO(path_imgidx, path_imgrec, "r")
            self.keys = list(self.record.keys)
        else:
            self.record = MXRecordIO(path_imgrec, "r")
        self.position = 0

    def select_part(self, part: int, num_parts: int, *, shuffle: bool) -> None:
        """Keep one part of the samples; the number of samples must be known for this and for shuffling."""
        if num_parts <= 1 and not shuffle:
            return
        if self.keys is None:
            raise MisuseError("shuffle and num_parts need path_imgidx", kind="bad_parameter")
        if num_parts > 1:
            if not 0 <= part < num_parts:
                raise MisuseError("part_index must be less than num_parts", found=f"{part} of {num_parts}")
            length = len(self.keys) // num_parts
            self.keys = self.keys[part * length : (part + 1) * length]

    def rewind(self) -> None:
        """Go back to the first sample."""
        self.position = 0
        if self.record is not None and self.keys is None:
            self.record.reset()

    def take(self) -> tuple[Any, bytes] | None:
        """Return label and encoded image of the next sample; None at the end."""
        if self.keys is None:
            return self._take_record(None)
        if self.position >= len(self.keys):
            return None
        key = self.keys[self.position]
        if self.record is not None:
            return self._take_record(key)
        listed: Any = self.listed
        label, name = listed[key]
        data = self.read_file(name)
        self.position += 1
        return label, data

    def _take_record(self, key: Any) -> tuple[Any, bytes] | None:
        record: Any = self.record
        payload = record.read() if key is None else record.read_idx(key)
        self.last = {"shard": record.uri, "record": self.position if key is None else key}
        if payload is None:
            if key is None:
                return None
            raise MXNetError("no record starts at the offset of the index file", kind="bad_index", **self.last)
        self.position += 1
        try:
            header, data = unpack(payload)
        except (struct.error, ValueError) as error:
            message = f"the record is too short for its header: {error}"
            raise HeaderError(message, kind="bad_payload", **self.last) from error
        if self.listed is None or key is None:
            return header.label, data
        if key not in self.listed:
            raise MXNetError(f"fail to find imagelabel for id {key}", kind="bad_label", **self.last)
        return self.listed[key][0], data

    def read_file(self, name: str) -> bytes:
        """Read a file below the root folder."""
        path = os.path.join(self._root, name)
        self.last = {"shard": path}
        with translated():
            return Path(path).read_bytes()


def _read_list(path: Any, dtype: str) -> ListedImages:
    listed: ListedImages = {}
    with translated():
        lines = Path(path).read_text("utf-8", "surrogateescape").split("\n")
    for number, line in enumerate(lines, 1):
        fields = line.strip().split("\t")
        if fields == [""] and number == len(lines):
            continue
        try:
            listed[int(fields[0])] = (array([float(field) for field in fields[1:-1]], dtype=dtype), fields[-1])
        except ValueError as error:
            message = f"line {number} must be index, labels and path, separated by tabs"
            shard, found = os.fspath(path), repr(line[:80])
            raise ParameterError(message, kind="bad_list_line", shard=shard, found=found) from error
    return listed


def _parse_entry(entry: Any, dtype: str) -> tuple[Any, str]:
    labels = entry[:-1] if len(entry) > 2 or isinstance(entry[0], int | float) else entry[0]
    return array(labels, dtype=dtype), entry[-1]
