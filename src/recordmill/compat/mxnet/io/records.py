"""The records that one iterator visits: files, the part of them, headers and labels."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import recordmill as rm
from recordmill.compat.mxnet.base import MissingFileError, MXNetError, ParameterError, as_mxnet_error, translated
from recordmill.compat.mxnet.io.chunks import Span, byte_ranges, record_chunks
from recordmill.compat.mxnet.io.files import find_files
from recordmill.dataclass import dataclass

Ints = NDArray[np.int64]
HEADER_BYTES = 24
_HEADER = np.dtype([("flag", "<u4"), ("label", "<f4"), ("id", "<u8"), ("id2", "<u8")])


@dataclass(frozen=True, eq=False, slots=True)
class Samples:
    """Some records, parsed."""

    images: list[memoryview]
    labels: NDArray[np.float32]
    ids: NDArray[np.uint64]


class RecordTable:
    """The records of one part of one or several files.

    Safe to pickle and to use after fork; reading from several threads is safe.
    """

    def __init__(self, values: Mapping[str, Any]) -> None:
        paths = find_files(values["path_imgrec"], "path_imgrec")
        self.label_width: int = values["label_width"]
        self.labels_of_ids = _read_labels(values["path_imglist"], self.label_width) if values["path_imglist"] else None
        with translated():
            self.readers = [rm.ShardReader(path, format="recordio", compression=None) for path in paths]
            counts = [len(reader) for reader in self.readers]
            self.firsts: Ints = np.cumsum([0, *counts])
            self.positions, self.ranges = self._part(values)

    def _part(self, values: Mapping[str, Any]) -> tuple[Ints, list[list[Span]]]:
        """Records of the part, and the chunks of each of its ranges in numbers of them."""
        num_parts, part = values["num_parts"], values["part_index"]
        if not 0 <= part < num_parts:
            message = "Check failed: part < nsplit: invalid input parameter for InputSplit::Create"
            found = f"part_index {part} of num_parts {num_parts}"
            raise ParameterError(message, kind="bad_parameter", found=found)
        starts, size = self._starts(), sum(os.path.getsize(reader.path) for reader in self.readers)
        if values["path_imgidx"]:
            marks, end = self._listed(values["path_imgidx"]), int(np.iinfo(np.int64).max)
            step = -(-len(marks) // num_parts)
            begin, stop = (int(marks[k * step]) if k * step < len(marks) else end for k in (part, part + 1))
            ranges = [(begin, stop)]
        else:
            ranges = byte_ranges(values, size)
        spans = [tuple(np.searchsorted(starts, borders).tolist()) for borders in ranges]
        first, last = spans[0][0], spans[-1][1]
        if first == last:
            message = "the part has no records"
            found = f"part {part} of {num_parts}, {len(starts)} records in all"
            raise ParameterError(message, kind="empty_part", shard=values["path_imgrec"], found=found)
        chunks = [[spans[0]]] if values["path_imgidx"] else [record_chunks(starts, span, size) for span in spans]
        return np.arange(first, last), [[(start - first, stop - first) for start, stop in one] for one in chunks]

    def _starts(self) -> Ints:
        """Where each record begins, in bytes of all files back to back."""
        sizes = np.cumsum([0, *(os.path.getsize(reader.path) for reader in self.readers)])
        return np.concatenate(
            [reader.index.offsets + size for reader, size in zip(self.readers, sizes[:-1], strict=True)]
        )

    def _listed(self, path: str) -> Ints:
        words = Path(path).read_text("utf-8").split()
        try:
            numbers = np.array(words, np.int64).reshape(-1, 2)
        except (ValueError, OverflowError) as error:
            message = "the index file is no list of keys and offsets"
            raise ParameterError(message, kind="bad_index", shard=path, expected="pairs of whole numbers") from error
        marks = np.unique(numbers[:, 1])
        known = np.isin(marks, self._starts())
        if not known.all():
            message = "Check failed: header[0] == RecordIOWriter::kMagic: the index file leads to no record"
            raise MXNetError(message, kind="bad_index", shard=path, offset=int(marks[~known][0]))
        return marks

    def __len__(self) -> int:
        """Return the number of records of the part."""
        return len(self.positions)

    def place(self, row: int) -> dict[str, Any]:
        """Shard, record and offset of a row of the part, for errors."""
        position = int(self.positions[row])
        number = int(np.searchsorted(self.firsts, position, "right")) - 1
        record, reader = position - int(self.firsts[number]), self.readers[number]
        return {"shard": reader.path, "record": record, "offset": int(reader.index.offsets[record])}

    def fetch(self, rows: Ints) -> Samples:
        """Read records."""
        data, splits = self._payloads(rows)
        sizes = np.diff(splits)
        for row in np.flatnonzero(sizes < HEADER_BYTES)[:1]:
            message = "Check failed: size >= sizeof(header)"
            found = f"{sizes[row]} bytes"
            raise MXNetError(message, kind="bad_payload", expected="24 bytes", found=found, **self.place(rows[row]))
        heads = data[splits[:-1, None] + np.arange(HEADER_BYTES)].view(_HEADER)[:, 0]
        starts = splits[:-1] + HEADER_BYTES + 4 * heads["flag"].astype(np.int64)
        for row in np.flatnonzero(starts > splits[1:])[:1]:
            found = f"{heads['flag'][row]} labels in {sizes[row]} bytes"
            message = "an image record holds fewer labels than it says"
            raise MXNetError(message, kind="bad_payload", found=found, **self.place(rows[row]))
        view = data.data
        images = [view[start:stop] for start, stop in zip(starts.tolist(), splits[1:].tolist(), strict=True)]
        return Samples(images, self._labels(rows, heads, data, splits), heads["id"].astype(np.uint64))

    def _payloads(self, rows: Ints) -> tuple[NDArray[np.uint8], Ints]:
        positions = self.positions[rows]
        numbers = np.searchsorted(self.firsts, positions, "right") - 1
        with translated():
            if (numbers == numbers[0]).all():
                ragged = self.readers[numbers[0]].fetch_ragged(positions - self.firsts[numbers[0]])
                return ragged.data, ragged.row_splits
            payloads = [
                self.readers[number][position - self.firsts[number]]
                for number, position in zip(numbers.tolist(), positions.tolist(), strict=True)
            ]
        ragged = rm.Ragged.from_rows(payloads)
        return ragged.data, ragged.row_splits

    def _labels(self, rows: Ints, heads: Any, data: NDArray[np.uint8], splits: Ints) -> NDArray[np.float32]:
        if self.labels_of_ids is not None:
            return self._listed_labels(rows, heads["id"].tolist())
        flags, width = heads["flag"], self.label_width
        if width == 1 and not flags.any():
            return np.ascontiguousarray(heads["label"][:, None], np.float32)
        for row in np.flatnonzero((flags != width) & ~((flags == 0) & (width == 1)))[:1]:
            if flags[row] == 0:
                message = (
                    "label_width must be 1 unless an imglist is provided or the rec file is packed with multi "
                    "dimensional label"
                )
            else:
                message = f"rec file provide {flags[row]}-dimensional label but label_width is set to {width}"
            raise ParameterError(message, kind="bad_label", **self.place(rows[row]))
        places = splits[:-1, None] + HEADER_BYTES + np.arange(4 * width)
        places[flags == 0] = splits[:-1][flags == 0][:, None] + np.arange(4, 8) if width == 1 else 0
        labels: NDArray[np.float32] = data[places].view("<f4").astype(np.float32)
        return labels

    def _listed_labels(self, rows: Ints, ids: Sequence[int]) -> NDArray[np.float32]:
        known: Any = self.labels_of_ids
        for row, key in enumerate(ids):
            if key not in known:
                raise MXNetError(f"fail to find imagelabel for id {key}", kind="bad_label", **self.place(rows[row]))
        return np.stack([known[key] for key in ids])


def _read_labels(path: str, width: int) -> dict[int, NDArray[np.float32]]:
    if not os.path.exists(path):
        raise MissingFileError(f"LocalFileSystem.GetPathInfo: {path} error: No such file or directory", shard=path)
    try:
        rows = rm.ListFile(path, root=os.curdir, allow_outside=True, allow_duplicates=True).rows()
    except rm.LabelError as error:
        error.message = f"Bad ImageList format: {error.message}"
        raise as_mxnet_error(error) from error
    labels: Any = rows.labels
    known = {}
    for row, key in enumerate(rows.keys.tolist()):
        values = np.atleast_1d(labels[row]).astype(np.float32)
        if len(values) < width:
            found = f"{len(values)} labels for image {key}"
            message = "Check failed: Bad ImageList format"
            raise ParameterError(message, kind="bad_label", shard=path, expected=f"{width} labels", found=found)
        known[key] = values[:width]
    return known
