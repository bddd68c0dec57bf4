"""Tells from the first bytes whether files are pictures, without decoding them."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from recordmill import _core
from recordmill.errors import ImageError, LimitError
from recordmill.formats.registry import PAYLOADS, get_format
from recordmill.formats.values import ColumnArgs
from recordmill.packing.masks import read_mask, recode_mask
from recordmill.packing.options import ImageOptions
from recordmill.packing.png import recode_png_files
from recordmill.packing.recode import Recoding, decode_whole, image_shape, recode
from recordmill.packing.sources.base import Items
from recordmill.schema import Feature, Schema
from recordmill.shards.output import FramedRecords, frame_columns, frame_payloads
from recordmill.types import Ragged

_HEAD = 12
_MAGICS = (
    b"\xff\xd8\xff",  # JPEG
    b"\x89PNG\r\n\x1a\n",
    b"GIF8",
    b"BM",
    b"II*\0",  # TIFF, both byte orders
    b"MM\0*",
    b"II+\0",  # BigTIFF
    b"MM\0+",
)


def find_others(files: Ragged) -> list[int]:
    """Files that do not begin like a JPEG, PNG, GIF, BMP, WebP or TIFF."""
    view, splits = np.asarray(files.data).data, files.row_splits.tolist()
    heads = [bytes(view[start : min(start + _HEAD, stop)]) for start, stop in pairwise(splits)]
    return [
        row
        for row, head in enumerate(heads)
        if not (head.startswith(_MAGICS) and len(head) == _HEAD) and not _is_webp(head)
    ]


def _is_webp(head: bytes) -> bool:
    return head[:4] == b"RIFF" and head[8:] == b"WEBP"


def describe_bytes(data: bytes) -> str:
    """Say what a file that is no picture holds."""
    return f"not a picture: it begins with {data[:8].hex(' ')}" if data else "the file is empty"


Failures = dict[int, tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Names:
    """Names of the features of a record, by what they hold; None where there is no such feature."""

    image: str
    label: str | None = None
    mask: str | None = None
    name: str | None = None
    height: str | None = None
    width: str | None = None
    dtype: str | None = None
    key: str | None = None
    second_key: str | None = None


@dataclass(frozen=True, slots=True)
class Packed:
    """Records of a chunk in their stored form.

    Parameters
    ----------
    framed : FramedRecords
    keys : list of int
    failures : dict of int to (str, str)
        Path and cause of each row of the chunk that has no record.
    """

    framed: FramedRecords
    keys: list[int | str]
    failures: Failures


@dataclass(frozen=True, slots=True)
class Job:
    """How items become records.

    Parameters
    ----------
    format, payload : str
        Names of format and payload codec.
    names : Names
    schema : Schema
        All features, in the order of `names`, then the extra ones of the source.
    options : ImageOptions
    """

    format: str
    payload: str
    names: Names
    schema: Schema
    options: ImageOptions

    def run(self, items: Items) -> Packed:
        """Pack items; those whose files cannot be used are left out and listed."""
        if self._is_direct:
            with contextlib.suppress(OSError, _core.CoreChanged):
                framed = self._copy(items)
                if framed is not None:
                    return Packed(framed, items.keys.tolist(), {})
        failures: Failures = {}
        columns = self._load(items, failures)
        if failures:
            good = np.array([row for row in range(len(items)) if row not in failures], np.int64)
            columns = {name: _select(values, good) for name, values in columns.items()}
            items = items.take(good)
        columns |= self._listed(items)
        return Packed(self._frame(len(items), columns), items.keys.tolist(), failures)

    @property
    def _is_direct(self) -> bool:
        """Whether files are stored as they are, after a look at their first bytes at most."""
        options = self.options
        touched = options.recoding is not None or options.check not in ("none", "signature") or options.keep_shape
        return not touched and self.names.mask is None and PAYLOADS[self.payload].kind is not None

    def _copy(self, items: Items) -> FramedRecords | None:
        """Read files straight into their records; None if some are no pictures."""
        files = _core.WholeFiles(items.paths())
        framed = self._frame(len(items), {self.names.image: files} | self._listed(items))
        if self.options.check == "none":
            return framed
        return None if find_others(Ragged.from_blocks(*files.heads())) else framed

    def _load(self, items: Items, failures: Failures) -> dict[str, Any]:
        """Columns that come from the files themselves."""
        names = self.names
        paths = items.paths()
        images, shapes = self._images(paths, _read(paths, failures), failures)
        columns: dict[str, Any] = {names.image: images}
        if names.mask is not None:
            paths = items.mask_paths()
            masks, mask_shapes, dtypes = self._masks(paths, _read(paths, failures), failures)
            columns[names.mask] = masks
            _compare(paths, shapes, mask_shapes, failures)
            if names.dtype is not None:
                columns[names.dtype] = Ragged.from_rows(dtypes)
                shapes = mask_shapes
        if names.height is not None and names.width is not None:
            sizes = np.array([shape or (0, 0) for shape in shapes]).reshape(-1, 2)
            columns[names.height], columns[names.width] = sizes[:, 0], sizes[:, 1]
        return columns

    def _images(self, paths: list[str], files: Ragged, failures: Failures) -> tuple[Ragged, list[Any]]:
        options = self.options
        if options.check != "none":
            _refuse_others(paths, files, failures)
        if options.recoding is not None:
            return _recoded(paths, files, failures, options.recoding)
        if options.check == "decode":
            _each(paths, files, failures, decode_whole)
        if options.check == "header" or options.keep_shape or (options.check == "decode" and self.names.mask):
            return files, _each(paths, files, failures, image_shape)
        return files, [None] * len(files)

    def _masks(self, paths: list[str], files: Ragged, failures: Failures) -> tuple[Ragged, list[Any], list[bytes]]:
        options, how = self.options, self.options.recoding
        if options.check != "none":
            _refuse_others(paths, files, failures)
        if options.mask == "raw":
            arrays = _each(paths, files, failures, lambda data: read_mask(data, how))
            rows = [b"" if array is None else array.tobytes() for array in arrays]
            shapes = [None if array is None else array.shape for array in arrays]
            return (
                Ragged.from_rows(rows),
                shapes,
                [b"" if array is None else array.dtype.name.encode() for array in arrays],
            )
        if how is not None and how.moves_pixels:
            done = _each(paths, files, failures, lambda data: recode_mask(data, how))
            files = Ragged.from_rows([one or b"" for one in done])
            return files, _each(paths, files, failures, image_shape), []
        if options.check == "decode":
            _each(paths, files, failures, decode_whole)
        if options.check in ("header", "decode"):
            return files, _each(paths, files, failures, image_shape), []
        return files, [None] * len(files), []

    def _listed(self, items: Items) -> dict[str, Any]:
        """Columns that the source lists."""
        names = self.names
        columns: dict[str, Any] = dict(items.extra)
        if names.label is not None:
            columns[names.label] = items.labels
        if names.name is not None:
            columns[names.name] = items.names
        if names.key is not None:
            columns[names.key] = items.keys
        if names.second_key is not None:
            columns[names.second_key] = np.zeros(len(items), np.uint64)
        return columns

    def _frame(self, num_records: int, columns: dict[str, Any]) -> FramedRecords:
        format_, codec = get_format(self.format), PAYLOADS[self.payload]
        if codec.kind is None:
            return frame_payloads(format_, columns[self.names.image])
        args = [column_args(self._key(name), feature, columns[name]) for name, feature in self.schema.items()]
        return frame_columns(format_, codec.kind, num_records, args)

    def _key(self, name: str) -> bytes:
        codec: Any = PAYLOADS[self.payload]
        return codec.key(name, self.schema)  # type: ignore[no-any-return]


def column_args(key: bytes, feature: Feature, values: Any) -> ColumnArgs:
    """Arguments for the native serializer, of values that are columns already."""
    if feature.kind == "bytes":
        if isinstance(values, list):
            values = Ragged.from_rows([value.encode("utf-8", "surrogateescape") for value in values])
        flat: Any = values if isinstance(values, _core.WholeFiles) else (values.data, values.row_splits)
        return ColumnArgs(key, False, "bytes", flat, 1, None, None, None, True)
    if isinstance(values, Ragged):
        return ColumnArgs(key, False, feature.kind, values.data, None, values.row_splits, None, None, False)
    flat = np.ascontiguousarray(values, feature.kind).reshape(-1)
    return ColumnArgs(key, False, feature.kind, flat, feature.count, None, None, None, feature.shape == ())


def _read(paths: list[str], failures: Failures) -> Ragged:
    """Whole files; an empty row where one cannot be read."""
    try:
        data, row_splits = _core.read_files(paths)
        return Ragged(np.asarray(data), np.asarray(row_splits))
    except OSError:
        rows = []
        for row, path in enumerate(paths):
            try:
                rows.append(bytes(memoryview(_core.read_files([path])[0])))
            except OSError as error:
                failures.setdefault(row, (path, error.strerror or str(error)))
                rows.append(b"")
        return Ragged.from_rows(rows)


def _refuse_others(paths: list[str], files: Ragged, failures: Failures) -> None:
    for row in find_others(files):
        failures.setdefault(row, (paths[row], describe_bytes(files[row])))


def _each(
    paths: list[str], files: Ragged, failures: Failures, work: Callable[[Any], Any], done: Sequence[bool] = ()
) -> list[Any]:
    """Results of some work on every file that is good so far and not done; None for the others, and where it fails."""
    results: list[Any] = []
    view, splits = np.asarray(files.data).data, files.row_splits.tolist()
    for row, path in enumerate(paths):
        result = None
        if row not in failures and not (done and done[row]):
            try:
                result = work(view[splits[row] : splits[row + 1]])
            except (ImageError, LimitError) as error:
                lines = str(error).splitlines()
                failures[row] = (path, "; ".join(line.strip().removeprefix("hint: ") for line in lines))
            except MemoryError:
                failures[row] = (path, "there is not enough memory for the picture")
        results.append(result)
    return results


def _recoded(paths: list[str], files: Ragged, failures: Failures, how: Recoding) -> tuple[Ragged, list[Any]]:
    """Pictures encoded anew, and their shapes."""
    made, shapes = recode_png_files(files, how)
    if None not in shapes:
        return made, shapes
    rest = _each(paths, files, failures, lambda data: recode(data, how), done=[shape is not None for shape in shapes])
    pairs = [one or (data, shape) for one, data, shape in zip(rest, made, shapes, strict=True)]
    return Ragged.from_rows([data for data, _ in pairs]), [shape for _, shape in pairs]


def _compare(paths: list[str], shapes: Sequence[Any], mask_shapes: Sequence[Any], failures: Failures) -> None:
    for row, (shape, mask_shape) in enumerate(zip(shapes, mask_shapes, strict=True)):
        if shape and mask_shape and tuple(shape) != tuple(mask_shape):
            cause = f"the mask has {mask_shape[0]} x {mask_shape[1]} pixels, its image {shape[0]} x {shape[1]}"
            failures.setdefault(row, (paths[row], cause))


def _select(values: Any, rows: Any) -> Any:
    if isinstance(values, Ragged):
        return Ragged.from_rows([values[row] for row in rows.tolist()])
    return values[rows]
