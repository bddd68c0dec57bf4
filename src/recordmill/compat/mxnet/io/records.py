"""Read the records of one part of RecordIO files, and parse their headers, images and labels."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import recordmill as rm
from recordmill.compat.mxnet.base import MissingFileError, MXNetError, ParameterError, as_mxnet_error, convert_errors
from recordmill.compat.mxnet.io.order import Span, split_part_into_ranges, split_span_into_chunks

Ints = NDArray[np.int64]
HEADER_BYTES = 24
_HEADER = np.dtype([("flag", "<u4"), ("label", "<f4"), ("id", "<u8"), ("id2", "<u8")])
_LABEL_OFFSET = 4
_MAX_OFFSET = int(np.iinfo(np.int64).max)


@dataclass(frozen=True, eq=False, slots=True)
class Samples:
    """Encoded images, labels and ids of several records."""

    images: list[memoryview]
    labels: NDArray[np.float32]
    ids: NDArray[np.uint64]


class RecordTable:
    """Table of the records in part `part_index` when the files are split into `num_parts` parts.

    A table can be pickled, used after a fork, and read by several threads.
    """

    def __init__(self, values: Mapping[str, Any]) -> None:
        paths = find_record_files(values["path_imgrec"])
        list_path = values.get("path_imglist")
        self.label_width: int = values["label_width"]
        self._listed_labels = _read_list_labels(list_path, self.label_width) if list_path else None
        with convert_errors():
            self.readers = [rm.ShardReader(path, format="recordio", compression=None) for path in paths]
            for reader in self.readers:
                reader.raise_damage(reader.damage)
            self.first_rows: Ints = np.cumsum([0, *map(len, self.readers)])
            self.positions, self.ranges = self._select_part(values)

    def __len__(self) -> int:
        return len(self.positions)

    def _select_part(self, values: Mapping[str, Any]) -> tuple[Ints, list[list[Span]]]:
        """Select the records of part `part_index`.

        Return the positions of these records, and the chunks of each byte range as spans of table rows.
        """
        num_parts, part, index_path = values["num_parts"], values["part_index"], values.get("path_imgidx")
        if not 0 <= part < num_parts:
            found = f"part_index={part}, num_parts={num_parts}"
            raise ParameterError("part_index must be at least 0 and less than num_parts", found=found)
        sizes = [os.path.getsize(reader.path) for reader in self.readers]
        bases = np.cumsum([0, *sizes])
        parts = zip(self.readers, bases[:-1], strict=True)
        starts: Ints = np.concatenate([reader.index.offsets + base for reader, base in parts])
        if index_path:
            marks = _read_index_offsets(index_path, starts)
            step = -(-len(marks) // num_parts)
            begin, stop = (int(marks[k * step]) if k * step < len(marks) else _MAX_OFFSET for k in (part, part + 1))
            ranges = [(begin, stop)]
        else:
            ranges = split_part_into_ranges(values, sum(sizes))
        spans = [tuple(np.searchsorted(starts, borders).tolist()) for borders in ranges]
        first, last = spans[0][0], spans[-1][1]
        if first == last:
            found = f"part_index={part}, num_parts={num_parts}, {len(starts)} records in total"
            path = values["path_imgrec"]
            raise ParameterError(
                "the part selected by part_index contains no records", kind="empty_part", shard=path, found=found
            )
        chunks = [[spans[0]]] if index_path else [split_span_into_chunks(starts, span, sum(sizes)) for span in spans]
        return np.arange(first, last), [[(start - first, stop - first) for start, stop in one] for one in chunks]

    def locate_row(self, row: int) -> dict[str, Any]:
        """Return the shard, record number and offset of the record in table row `row`, for error messages."""
        position = int(self.positions[row])
        number = int(np.searchsorted(self.first_rows, position, "right")) - 1
        record, reader = position - int(self.first_rows[number]), self.readers[number]
        return {"shard": reader.path, "record": record, "offset": int(reader.index.offsets[record])}

    def read_samples(self, rows: Ints) -> Samples:
        """Read the records in these table rows, and parse their labels and ids."""
        data, splits, headers, starts = self._read_headers(rows)
        view = data.data
        images = [view[start:stop] for start, stop in zip(starts.tolist(), splits[1:].tolist(), strict=True)]
        return Samples(images, self._parse_labels(rows, headers, data, splits), headers["id"].astype(np.uint64))

    def _read_headers(self, rows: Ints) -> tuple[NDArray[np.uint8], Ints, Any, Ints]:
        """Return the concatenated payloads, row splits, headers and image offsets of the records.

        Image offsets count from the start of the concatenated payloads.
        """
        data, splits = self._read_payloads(rows)
        sizes = np.diff(splits)
        for row in np.flatnonzero(sizes < HEADER_BYTES)[:1]:
            message, found = "Check failed: size >= sizeof(header)", f"{sizes[row]} bytes"
            raise MXNetError(
                message, kind="bad_payload", expected="24 bytes", found=found, **self.locate_row(rows[row])
            )
        headers = data[splits[:-1, None] + np.arange(HEADER_BYTES)].view(_HEADER)[:, 0]
        starts = splits[:-1] + HEADER_BYTES + 4 * headers["flag"].astype(np.int64)
        for row in np.flatnonzero(starts > splits[1:])[:1]:
            message = "the record is too short for the number of labels in its header"
            found = f"{headers['flag'][row]} labels, {sizes[row]} bytes"
            raise MXNetError(message, kind="bad_payload", found=found, **self.locate_row(rows[row]))
        return data, splits, headers, starts

    def _read_payloads(self, rows: Ints) -> tuple[NDArray[np.uint8], Ints]:
        positions = self.positions[rows]
        numbers = np.searchsorted(self.first_rows, positions, "right") - 1
        with convert_errors():
            if (numbers == numbers[0]).all():
                ragged = self.readers[numbers[0]].fetch_ragged(positions - self.first_rows[numbers[0]])
                return ragged.data, ragged.row_splits
            payloads = [
                self.readers[number][position - self.first_rows[number]]
                for number, position in zip(numbers.tolist(), positions.tolist(), strict=True)
            ]
        ragged = rm.Ragged.from_rows(payloads)
        return ragged.data, ragged.row_splits

    def _parse_labels(self, rows: Ints, headers: Any, data: NDArray[np.uint8], splits: Ints) -> NDArray[np.float32]:
        if self._listed_labels is not None:
            return self._look_up_listed_labels(rows, headers["id"].tolist())
        flags, width = headers["flag"], self.label_width
        if width == 1 and not flags.any():
            return np.ascontiguousarray(headers["label"][:, None], np.float32)
        for row in np.flatnonzero((flags != width) & ~((flags == 0) & (width == 1)))[:1]:
            message = f"the record has {max(flags[row], 1)} labels, but label_width is {width}"
            raise ParameterError(message, kind="bad_label", **self.locate_row(rows[row]))
        offsets = splits[:-1, None] + HEADER_BYTES + np.arange(4 * width)
        if width == 1:
            offsets[flags == 0] = splits[:-1][flags == 0][:, None] + np.arange(_LABEL_OFFSET, _LABEL_OFFSET + 4)
        labels: NDArray[np.float32] = data[offsets].view("<f4").astype(np.float32)
        return labels

    def _look_up_listed_labels(self, rows: Ints, ids: Sequence[int]) -> NDArray[np.float32]:
        known: Any = self._listed_labels
        for row, key in enumerate(ids):
            if key not in known:
                raise MXNetError(
                    f"fail to find imagelabel for id {key}", kind="bad_label", **self.locate_row(rows[row])
                )
        return np.stack([known[key] for key in ids])


def find_record_files(names: str) -> list[str]:
    """Return the non-empty files of a semicolon-separated list of files and folders (parameter `path_imgrec`)."""
    if not names:
        raise ParameterError("path_imgrec must be given", expected="path_imgrec")
    files: list[str] = []
    for name in names.split(";"):
        if os.path.isdir(name):
            entries = (entry for entry in os.scandir(name) if entry.is_file() and not entry.name.startswith("."))
            files += sorted(entry.path for entry in entries)
        elif not os.path.exists(name):
            raise MissingFileError(f"LocalFileSystem.GetPathInfo: {name} error: No such file or directory", shard=name)
        else:
            files.append(name)
    filled = [name for name in files if os.path.getsize(name)]
    if not filled:
        raise MXNetError(f"Cannot find any files that matches the URI pattern {names}", kind="empty", shard=names)
    return filled


def _read_index_offsets(path: str, starts: Ints) -> Ints:
    try:
        numbers = np.array(Path(path).read_text("utf-8").split(), np.int64).reshape(-1, 2)
    except (ValueError, OverflowError) as error:
        message = "the index file must contain pairs of integers, key and offset"
        raise ParameterError(message, kind="bad_index", shard=path) from error
    marks = np.unique(numbers[:, 1])
    known = np.isin(marks, starts)
    if not known.all():
        message = "the index file is invalid: no record starts at this offset"
        raise MXNetError(message, kind="bad_index", shard=path, offset=int(marks[~known][0]))
    return marks


def _read_list_labels(path: str, width: int) -> dict[int, NDArray[np.float32]]:
    if not os.path.exists(path):
        raise MissingFileError(f"LocalFileSystem.GetPathInfo: {path} error: No such file or directory", shard=path)
    try:
        rows = rm.read_image_list(Path(path).read_bytes(), path)
    except rm.LabelError as error:
        error.message = f"Bad ImageList format: {error.message}"
        raise as_mxnet_error(error) from error
    labels: Any = rows.labels
    known = {}
    for row, key in enumerate(rows.keys.tolist()):
        values = np.atleast_1d(labels[row]).astype(np.float32)
        if len(values) < width:
            message, found = "Bad ImageList format", f"{len(values)} labels for image {key}"
            raise ParameterError(message, kind="bad_label", shard=path, expected=f"{width} labels", found=found)
        known[key] = values[:width]
    return known
