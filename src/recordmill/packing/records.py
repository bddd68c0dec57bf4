"""Build the framed records of a chunk: read image and mask files, check or recode them, and serialize the records."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from recordmill import _core
from recordmill.decode.signatures import find_image_formats
from recordmill.errors import ImageError, LimitError
from recordmill.formats.registry import PAYLOADS, get_format
from recordmill.formats.values import ColumnArgs
from recordmill.packing.links import find_files_outside_folder
from recordmill.packing.options import ImageOptions
from recordmill.packing.recode import (
    Recoding,
    Shape,
    check_decodable,
    read_image_shape,
    read_mask,
    recode_image,
    recode_mask,
    recode_png_files,
)
from recordmill.packing.record_schema import FeatureNames
from recordmill.packing.sources.base import Items, take_rows
from recordmill.schema import Feature, Schema
from recordmill.shards.output import FramedRecords, frame_columns, frame_payloads
from recordmill.storage.addresses import describe_path
from recordmill.storage.base import Storage
from recordmill.storage.local import LOCAL
from recordmill.types import Ragged

if TYPE_CHECKING:
    from recordmill.packing.sources.base import FileInfos
    from recordmill.storage.remote import RemoteStorage

# Maps the row of each failed item in a chunk to (path, cause).
Failures = dict[int, tuple[str, str]]


@dataclass(frozen=True, slots=True)
class ChunkRecords:
    """Framed records of a chunk, their keys, and the failures of the items that have no record."""

    framed: FramedRecords
    keys: list[int | str]
    failures: Failures


@dataclass(frozen=True, slots=True)
class RecordBuilder:
    """Builds records from items. Picklable, because it is sent to worker processes.

    The schema lists the features of `names` in order, then the further features of the source. The image and mask
    files are read from `storage`.
    """

    format: str
    payload: str
    names: FeatureNames
    schema: Schema
    options: ImageOptions
    storage: Storage = field(default=LOCAL, compare=False)

    def build(self, items: Items) -> ChunkRecords:
        """Build the records of items. Items whose files cannot be used are skipped and listed in `failures`."""
        unusable = find_files_outside_folder(items) | self._find_too_large_file(items)
        rows = np.array([row for row in range(len(items)) if row not in unusable], np.int64)
        records = self._build_records(items.take(rows) if unusable else items)
        failures = unusable | {int(rows[row]): failure for row, failure in records.failures.items()}
        return replace(records, failures={row: (describe_path(path), cause) for row, (path, cause) in failures.items()})

    def _find_too_large_file(self, items: Items) -> Failures:
        """Return a failure if a file is too large for the format.

        A chunk of several items needs no check, because `ChunkQueue` limits the total size of their files.
        """
        if len(items) != 1 or self.options.recoding is not None:
            return {}
        path, most = items.paths()[0], get_format(self.format).framing.max_payload_bytes
        with contextlib.suppress(OSError):
            num_bytes = items.infos[0].num_bytes if items.infos and items.infos[0] else os.path.getsize(path)
            if num_bytes > most:
                cause = f"the file has {num_bytes:,} bytes, but {self.format} stores at most {most:,} bytes per record"
                return {0: (path, cause)}
        return {}

    def _build_records(self, items: Items) -> ChunkRecords:
        if self._copies_files:
            with contextlib.suppress(OSError, _core.CoreChanged):
                framed = self._copy_files(items)
                if framed is not None:
                    return ChunkRecords(framed, items.keys.tolist(), {})
        failures: Failures = {}
        columns = self._load_columns(items, failures)
        if failures:
            rows = np.array([row for row in range(len(items)) if row not in failures], np.int64)
            columns = {name: take_rows(values, rows) for name, values in columns.items()}
            items = items.take(rows)
        columns |= self._select_source_columns(items)
        return ChunkRecords(self._serialize_columns(len(items), columns), items.keys.tolist(), failures)

    @property
    def _copies_files(self) -> bool:
        """True if image files are copied into the records without decoding."""
        options = self.options
        reads_pixels = options.recoding is not None or options.check in ("header", "decode") or options.keep_shape
        has_plain_files = not self.storage.is_remote and self.names.mask is None
        return not reads_pixels and has_plain_files and PAYLOADS[self.payload].kind is not None

    def _copy_files(self, items: Items) -> FramedRecords | None:
        """Read files directly into their records; return None if a file is not an image."""
        files = _core.WholeFiles(items.paths())
        framed = self._serialize_columns(len(items), {self.names.image: files} | self._select_source_columns(items))
        if self.options.check == "none":
            return framed
        return None if _find_non_images(Ragged.from_blocks(*files.heads())) else framed

    def _load_columns(self, items: Items, failures: Failures) -> dict[str, Any]:
        """Read the image and mask files; return the columns made from them: images, masks, shapes and dtypes."""
        names = self.names
        images, shapes = self._load_images(items.paths(), items.infos, failures)
        columns: dict[str, Any] = {names.image: images}
        if names.mask is not None:
            paths = items.mask_paths()
            masks, mask_shapes, dtypes = self._load_masks(paths, items.mask_infos, failures)
            columns[names.mask] = masks
            _check_equal_shapes(paths, shapes, mask_shapes, failures)
            if names.dtype is not None:
                columns[names.dtype] = Ragged.from_rows(dtypes)
                shapes = mask_shapes
        if names.height is not None and names.width is not None:
            sizes = np.array([shape or (0, 0) for shape in shapes]).reshape(-1, 2)
            columns[names.height], columns[names.width] = sizes[:, 0], sizes[:, 1]
        return columns

    def _load_images(
        self, paths: list[str], infos: FileInfos | None, failures: Failures
    ) -> tuple[Ragged, list[Shape | None]]:
        options = self.options
        files = self._read_image_files(paths, infos, failures)
        if options.recoding is not None:
            return _recode_images(paths, files, failures, options.recoding)
        if options.check == "decode":
            _apply_to_files(check_decodable, paths, files, failures)
        has_masks = self.names.mask is not None
        if options.check == "header" or options.keep_shape or (options.check == "decode" and has_masks):
            return files, _apply_to_files(read_image_shape, paths, files, failures)
        return files, [None] * len(files)

    def _load_masks(
        self, paths: list[str], infos: FileInfos | None, failures: Failures
    ) -> tuple[Ragged, list[Shape | None], list[bytes]]:
        """Read the masks; return the bytes to store, the shapes of the masks, and the dtype names of raw masks."""
        options, recoding = self.options, self.options.recoding
        files = self._read_image_files(paths, infos, failures)
        if options.mask == "raw":
            arrays = _apply_to_files(lambda data: read_mask(data, recoding), paths, files, failures)
            rows = [b"" if array is None else array.tobytes() for array in arrays]
            shapes = [None if array is None else array.shape for array in arrays]
            dtypes = [b"" if array is None else array.dtype.name.encode() for array in arrays]
            return Ragged.from_rows(rows), shapes, dtypes
        if recoding is not None and recoding.changes_geometry:
            masks = _apply_to_files(lambda data: recode_mask(data, recoding), paths, files, failures)
            files = Ragged.from_rows([mask or b"" for mask in masks])
            return files, _apply_to_files(read_image_shape, paths, files, failures), []
        if options.check == "decode":
            _apply_to_files(check_decodable, paths, files, failures)
        if options.check in ("header", "decode"):
            return files, _apply_to_files(read_image_shape, paths, files, failures), []
        return files, [None] * len(files), []

    def _read_image_files(self, paths: list[str], infos: FileInfos | None, failures: Failures) -> Ragged:
        if infos is None:
            files = _read_files(paths, failures)
        else:
            files = _read_remote_files(cast("RemoteStorage", self.storage), paths, infos, failures)
        if self.options.check != "none":
            for row in _find_non_images(files):
                failures.setdefault(row, (paths[row], _describe_non_image(files[row])))
        return files

    def _select_source_columns(self, items: Items) -> dict[str, Any]:
        """Return the columns that come from the list of items, such as labels, names and keys."""
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

    def _serialize_columns(self, num_records: int, columns: dict[str, Any]) -> FramedRecords:
        format_, codec = get_format(self.format), PAYLOADS[self.payload]
        if codec.kind is None:
            return frame_payloads(format_, columns[self.names.image])
        keyed: Any = codec
        args = [
            _convert_column_to_native_args(keyed.native_key(name, self.schema), feature, columns[name])
            for name, feature in self.schema.items()
        ]
        return frame_columns(format_, codec.kind, num_records, args)


def _convert_column_to_native_args(key: bytes, feature: Feature, values: Any) -> ColumnArgs:
    """Convert a column to the arguments that the native serializer expects."""
    if feature.kind == "bytes":
        if isinstance(values, list):
            values = Ragged.from_rows([value.encode("utf-8", "surrogateescape") for value in values])
        flat: Any = values if isinstance(values, _core.WholeFiles) else (values.data, values.row_splits)
        return ColumnArgs(key, False, "bytes", flat, 1, None, None, None, True)
    if isinstance(values, Ragged):
        return ColumnArgs(key, False, feature.kind, values.data, None, values.row_splits, None, None, False)
    flat = np.ascontiguousarray(values, feature.kind).reshape(-1)
    return ColumnArgs(key, False, feature.kind, flat, feature.count, None, None, None, feature.shape == ())


def _read_files(paths: list[str], failures: Failures) -> Ragged:
    """Read whole files; add a failure and an empty row for each file that cannot be read."""
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


def _read_remote_files(storage: RemoteStorage, paths: list[str], infos: FileInfos, failures: Failures) -> Ragged:
    """Request all files at once; add a failure and an empty row for each file that does not exist."""
    requests = {row: storage.request_file(paths[row], info) for row, info in enumerate(infos) if info is not None}
    files = [b""] * len(paths)
    try:
        for row, path in enumerate(paths):
            if row in requests:
                with contextlib.suppress(FileNotFoundError):
                    files[row] = requests[row].result()
                    continue
            failures.setdefault(row, (path, "the object does not exist"))
    finally:
        for request in requests.values():
            request.cancel()
    return Ragged.from_rows(files)


def _recode_images(
    paths: list[str], files: Ragged, failures: Failures, recoding: Recoding
) -> tuple[Ragged, list[Shape | None]]:
    try:
        images, shapes = recode_png_files(files, recoding)
    except MemoryError as error:
        if (row := getattr(error, "ordinal", None)) is None:
            raise
        raise MemoryError(f"{error}: {paths[row]}") from error
    if None not in shapes:
        return images, shapes
    recoded = _apply_to_files(
        lambda data: recode_image(data, recoding), paths, files, failures, skip=[shape is not None for shape in shapes]
    )
    pairs = [pair or (data, shape) for pair, data, shape in zip(recoded, images, shapes, strict=True)]
    return Ragged.from_rows([data for data, _ in pairs]), [shape for _, shape in pairs]


def _apply_to_files(
    function: Callable[[Any], Any],
    paths: list[str],
    files: Ragged,
    failures: Failures,
    skip: Sequence[bool] | None = None,
) -> list[Any]:
    """Call a function with the bytes of each file. If a call fails, add the path and the cause to `failures`.

    Returns None for rows that fail, have failed before, or are skipped.
    """
    results: list[Any] = []
    view, splits = np.asarray(files.data).data, files.row_splits.tolist()
    for row, path in enumerate(paths):
        result = None
        if row not in failures and not (skip is not None and skip[row]):
            try:
                result = function(view[splits[row] : splits[row + 1]])
            except (ImageError, LimitError) as error:
                lines = str(error).splitlines()
                failures[row] = (path, "; ".join(line.strip().removeprefix("hint: ") for line in lines))
            except MemoryError:
                failures[row] = (path, "not enough memory for the image")
        results.append(result)
    return results


def _check_equal_shapes(
    paths: list[str], shapes: Sequence[Shape | None], mask_shapes: Sequence[Shape | None], failures: Failures
) -> None:
    for row, (shape, mask_shape) in enumerate(zip(shapes, mask_shapes, strict=True)):
        if shape and mask_shape and tuple(shape) != tuple(mask_shape):
            cause = f"the mask has {mask_shape[0]} x {mask_shape[1]} pixels, but its image has {shape[0]} x {shape[1]}"
            failures.setdefault(row, (paths[row], cause))


def _find_non_images(files: Ragged) -> list[int]:
    return [row for row, format_ in enumerate(find_image_formats(files)) if format_ is None]


def _describe_non_image(data: bytes) -> str:
    return f"the file is not an image: it starts with the bytes {data[:8].hex(' ')}" if data else "the file is empty"
