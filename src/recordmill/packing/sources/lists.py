"""Sources that list images: label files of JSON lines, MXNet image lists, CSV or TSV tables, and lists of paths."""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from recordmill.errors import ImageError, LabelError
from recordmill.formats.recordio.lst import read_image_list
from recordmill.packing.sources.base import Items, Source, find_source, read_text
from recordmill.storage.addresses import check_path, describe_path, is_address
from recordmill.storage.base import Storage
from recordmill.storage.choose import StorageOptions
from recordmill.suggestions import suggest_constructor_arguments

# A label fits into int64 if it is at least -_LABEL_LIMIT and less than _LABEL_LIMIT.
_LABEL_LIMIT = 2**63
# Headers by which the image and label columns of a table are detected, in order of preference.
_IMAGE_HEADERS = ("image", "path", "file", "filename", "file_name", "image_path", "image_id", "name")
_LABEL_HEADERS = ("label", "labels", "class", "target", "category", "class_id", "y")
_TAB_SUFFIXES = (".tsv", ".tab")
Column = str | int


@suggest_constructor_arguments
@dataclass(frozen=True, repr=False)
class LabelFile(Source):
    r"""Images listed in a file of JSON lines, such as ``{"0001.png": 5}``; an object may list several images.

    Parameters
    ----------
    labels : path
        The label file, in UTF-8.
    root : path, optional
        Folder that the names are relative to; by default names are used as they are.
    allow_outside : bool
        Whether names and links may lead to files outside `root`.
    allow_duplicates : bool
        Whether a file may be listed more than once.
    storage_options : mapping of str to object, optional
        Settings for addresses such as ``s3://bucket/photos``, as in `open`.

    Raises
    ------
    MissingInputError
        When the items are listed: the label file does not exist.
    LabelError
        When the items are listed: a line is not a JSON object of names and numbers. The error gives the line number.
    ImageError
        When the items are listed: a name is invalid, listed twice, or outside `root`.

    References
    ----------
    OneFlow, "Convert the image files to OFRecord datasets": ``label.txt``.
    """

    labels: str | os.PathLike[str]
    root: str | os.PathLike[str] | None = None
    allow_outside: bool = False
    allow_duplicates: bool = False
    storage_options: StorageOptions = field(default=None, repr=False)

    def read_items(self) -> Items:
        """Read the images in the order of the file.

        Returns
        -------
        Items
        """
        path, storage = find_source(self.labels, self.storage_options)
        origin = describe_path(path)
        names: list[str] = []
        labels: list[int | float] = []
        lines: list[int] = []
        for number, line in enumerate(_read_json_lines(path, storage), 1):
            for name, label in _parse_json_line(line, origin, number):
                names.append(name)
                labels.append(_check_name_and_label(name, label, origin, number))
                lines.append(number)
        root = "" if self.root is None else check_path(self.root)
        _check_names(names, lines, origin, root if root and not self.allow_outside else None, self.allow_duplicates)
        all_integers = all(isinstance(label, int) for label in labels)
        values = np.array(labels, np.int64 if all_integers else np.float64)
        keys, allow_outside = np.arange(len(names)), self.allow_outside
        return Items(names, keys, root, values, origin=origin, lines=lines, allow_outside=allow_outside)


class _JsonMembers(list[tuple[str, Any]]):
    """Name and value pairs of a JSON object, including duplicate names, which a dict would lose."""


# All lines share one decoder, because `json.loads` with a hook would create one per call.
_DECODER = json.JSONDecoder(object_pairs_hook=_JsonMembers)


def _read_json_lines(path: str, storage: Storage) -> list[str]:
    """Return the lines of a file, except blank lines at its end."""
    try:
        text = read_text(path, storage)
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise _label_line_error(describe_path(path), line, "UTF-8 text", "other bytes") from None
    return text.rstrip().split("\n") if text.strip() else []


def _parse_json_line(line: str, origin: str, number: int) -> _JsonMembers:
    if not line.strip():
        raise _label_line_error(origin, number, 'an object such as {"0001.png": 5}', "an empty line")
    try:
        value = _decode_json(line)
    except ValueError as error:
        raise _label_line_error(origin, number, "JSON", f"{line[:80]!r}: {error}") from None
    except RecursionError:
        raise _label_line_error(origin, number, "a flat object", "deeply nested JSON") from None
    if not isinstance(value, _JsonMembers):
        raise _label_line_error(origin, number, 'an object such as {"0001.png": 5}', repr(line[:80]))
    if not value:
        raise _label_line_error(origin, number, "at least one file name", "an empty object")
    return value


def _decode_json(line: str) -> Any:
    """Decode a line of JSON. A line without surrounding spaces takes a faster path."""
    if line.startswith("{"):
        value, end = _DECODER.raw_decode(line)
        if end == len(line):
            return value
    return _DECODER.decode(line)


def _check_name_and_label(name: str, label: Any, origin: str, number: int) -> int | float:
    if not name:
        raise _label_line_error(origin, number, "a file name", "an empty name")
    if isinstance(label, int | float) and not isinstance(label, bool) and -_LABEL_LIMIT <= label < _LABEL_LIMIT:
        return label
    raise _label_line_error(origin, number, f"a number as label of {name!r}", repr(label)[:80])


def _label_line_error(origin: str, line: int, expected: str, found: str) -> LabelError:
    return LabelError(
        f"line {line} of the label file is invalid",
        kind="bad_label_line",
        shard=origin,
        expected=expected,
        found=found,
    )


@suggest_constructor_arguments
@dataclass(frozen=True, repr=False)
class ListFile(Source):
    """Images of an MXNet image list (``.lst``). The indices in the list become the keys of the records.

    Parameters
    ----------
    path : path
        The list. Several labels on a line become a vector.
    root : path, optional
        Folder that the paths are relative to; by default the folder of the list.
    allow_outside : bool
        Whether paths and links may lead to files outside `root`.
    allow_duplicates : bool
        Whether a file may be listed more than once.
    storage_options : mapping of str to object, optional
        Settings for addresses such as ``s3://bucket/photos``, as in `open`.

    Raises
    ------
    MissingInputError
        When the items are listed: the list does not exist.
    LabelError
        When the items are listed: a line does not have an index, labels and a path.
    ImageError
        When the items are listed: a path is invalid, listed twice, or outside `root`.
    """

    path: str | os.PathLike[str]
    root: str | os.PathLike[str] | None = None
    allow_outside: bool = False
    allow_duplicates: bool = False
    storage_options: StorageOptions = field(default=None, repr=False)

    def read_items(self) -> Items:
        """Read the images in the order of the list.

        Returns
        -------
        Items
        """
        path, storage = find_source(self.path, self.storage_options)
        origin = describe_path(path)
        images = read_image_list(storage.read(path), origin)
        root = (os.path.dirname(path) or os.curdir) if self.root is None else check_path(self.root)
        _check_names(images.names, images.lines, origin, None if self.allow_outside else root, self.allow_duplicates)
        return Items(
            images.names,
            images.keys,
            root,
            images.labels,
            origin=origin,
            lines=images.lines,
            allow_outside=self.allow_outside,
        )


@dataclass(frozen=True, repr=False)
class PathList(Source):
    """Images without labels, listed by their paths.

    Parameters
    ----------
    paths : tuple of str
    origin : str
        Where the paths come from, for error messages.
    root, allow_outside, allow_duplicates
        As in `LabelFile`.
    """

    paths: tuple[str, ...]
    origin: str
    root: str | os.PathLike[str] | None = None
    allow_outside: bool = False
    allow_duplicates: bool = False

    def read_items(self) -> Items:
        """Return the images in the order of the paths.

        Returns
        -------
        Items
        """
        names, lines = list(self.paths), range(1, len(self.paths) + 1)
        root = "" if self.root is None else check_path(self.root)
        checked_root = root if root and not self.allow_outside else None
        _check_names(names, lines, self.origin, checked_root, self.allow_duplicates)
        keys, allow_outside = np.arange(len(names)), self.allow_outside
        return Items(names, keys, root, origin=self.origin, lines=lines, allow_outside=allow_outside)


@suggest_constructor_arguments
@dataclass(frozen=True, repr=False)
class Table(Source):
    """Images of a CSV or TSV table.

    Parameters
    ----------
    path : path
        The table, in UTF-8.
    root : path, optional
        Folder that the file names are relative to; by default the folder of the table.
    image : str or int, optional
        Column of file names, by header or position; by default the column with header ``image``, ``path``, ``file``
        or similar, else the first column.
    label : str, int, sequence of them, or None
        Column of labels, several columns for a vector, or None for no labels. ``"auto"`` is the column with header
        ``label``, ``class``, ``target`` or similar, else the second column.
    features : sequence of str or int
        Columns that are stored as further features: as integers or floats if all values of a column allow it, otherwise
        as text.
    classes : sequence of str, or "auto", optional
        Class names in the order of their labels, if labels are text; "auto" sorts the names in the table.
    header : bool
        Whether the first line contains the column names.
    delimiter : str, optional
        Separator of the columns; by default a tab for ``.tsv`` and ``.tab`` files, else a comma.
    allow_outside : bool
        Whether file names and links may lead to files outside `root`.
    allow_duplicates : bool
        Whether a file may be listed more than once.
    storage_options : mapping of str to object, optional
        Settings for addresses such as ``s3://bucket/photos``, as in `open`.

    Raises
    ------
    MissingInputError
        When the items are listed: the table does not exist.
    LabelError
        When the items are listed: a column is missing, a line is too short, or a label is not a number. The error gives
        the line number.
    ImageError
        When the items are listed: a file name is invalid, listed twice, or outside `root`.
    """

    path: str | os.PathLike[str]
    root: str | os.PathLike[str] | None = None
    image: Column | None = None
    label: Column | Sequence[Column] | None = "auto"
    features: Sequence[Column] = ()
    classes: Sequence[str] | Literal["auto"] | None = None
    header: bool = True
    delimiter: str | None = None
    allow_outside: bool = False
    allow_duplicates: bool = False
    storage_options: StorageOptions = field(default=None, repr=False)

    def read_items(self) -> Items:
        """Read the images in the order of the table.

        Returns
        -------
        Items
        """
        path, storage = find_source(self.path, self.storage_options)
        origin = describe_path(path)
        header, rows, lines = self._read_table_rows(path, storage)
        width = len(header) if header else len(rows[0]) if rows else 0
        image = _find_column_or_default(self.image, header, width, _IMAGE_HEADERS, 0, origin)
        label_columns = self._find_label_columns(header, width, origin)
        feature_columns = [_find_column(column, header, width, origin) for column in self.features]
        for row, line in zip(rows, lines, strict=True):
            if len(row) < width or not row[image].strip():
                raise _table_line_error(
                    origin,
                    line,
                    f"at least {width} columns, and a file name that is not empty",
                    f"{len(row)} columns: {row}"[:120],
                )
        names = [row[image].strip() for row in rows]
        root = (os.path.dirname(path) or os.curdir) if self.root is None else check_path(self.root)
        _check_names(names, lines, origin, None if self.allow_outside else root, self.allow_duplicates)
        texts = [row[column].strip() for row in rows for column in label_columns]
        classes = None if self.classes is None else sorted(set(texts)) if self.classes == "auto" else list(self.classes)
        labels = self._parse_labels(texts, classes, len(label_columns), origin, lines)
        extra = {
            str(name): _parse_feature_column([row[column] for row in rows])
            for name, column in zip(self.features, feature_columns, strict=True)
        }
        keys, allow_outside = np.arange(len(names)), self.allow_outside
        return Items(
            names,
            keys,
            root,
            labels,
            extra=extra,
            origin=origin,
            lines=lines,
            allow_outside=allow_outside,
            classes=classes if labels is not None else None,
        )

    def _read_table_rows(self, path: str, storage: Storage) -> tuple[list[str], list[list[str]], list[int]]:
        """Return the column names, the rows, and the line number of each row."""
        delimiter = self.delimiter or ("\t" if path.lower().endswith(_TAB_SUFFIXES) else ",")
        try:
            text = storage.read(path).decode("utf-8-sig")
        except UnicodeDecodeError as error:
            line = error.object[: error.start].count(b"\n") + 1
            raise _table_line_error(describe_path(path), line, "UTF-8 text", "other bytes") from None
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
        rows: list[list[str]] = []
        lines: list[int] = []
        try:
            for row in reader:
                if row:
                    rows.append(row)
                    lines.append(reader.line_num)
        except csv.Error as error:
            raise _table_line_error(describe_path(path), reader.line_num, "a row of the table", str(error)) from None
        header = [name.strip() for name in rows.pop(0)] if self.header and rows else []
        return header, rows, lines[1:] if header else lines

    def _find_label_columns(self, header: list[str], width: int, origin: str) -> list[int]:
        if self.label is None:
            return []
        if self.label == "auto":
            return [_find_column_or_default(None, header, width, _LABEL_HEADERS, 1, origin)]
        columns = [self.label] if isinstance(self.label, str | int) else self.label
        return [_find_column(column, header, width, origin) for column in columns]

    def _parse_labels(
        self, texts: list[str], classes: list[str] | None, num_columns: int, origin: str, lines: list[int]
    ) -> NDArray[Any] | None:
        """Convert the texts of all label columns, row by row, to label numbers."""
        if not num_columns:
            return None
        if classes is not None:
            label_of = {name: label for label, name in enumerate(classes)}
            labels: list[Any] = [label_of.get(text) for text in texts]
            expected = f"one of {', '.join(classes)}"[:120]
        else:
            labels, expected = _parse_numbers(texts), "a number as label"
        if None in labels:
            position = labels.index(None)
            hint = None if classes is not None else 'if labels are text, set classes="auto" or a list of class names'
            line = lines[position // num_columns]
            raise _table_line_error(origin, line, expected, repr(texts[position]), hint)
        values = np.array(labels) if labels else np.zeros(0, np.int64)
        return values if num_columns == 1 else values.reshape(-1, num_columns)


def _parse_numbers(texts: list[str]) -> list[Any]:
    """Convert texts to integers if all fit into int64, otherwise to floats. Invalid numbers become None."""
    for kind in (int, float):
        try:
            values = list(map(kind, texts))
        except ValueError:
            continue
        if kind is float or not values or (min(values) >= -_LABEL_LIMIT and max(values) < _LABEL_LIMIT):
            return values
    return [_parse_float(text) for text in texts]


def _parse_float(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _parse_feature_column(texts: list[str]) -> NDArray[Any] | list[str]:
    for kind, dtype in ((int, np.int64), (float, np.float32)):
        try:
            return np.array(list(map(kind, texts)), dtype)
        except (ValueError, OverflowError):
            continue
    return texts


def _find_column_or_default(
    column: Column | None, header: list[str], width: int, preferred: tuple[str, ...], default: int, origin: str
) -> int:
    """Return the position of `column`. If it is None, use the first preferred name in the header, or else `default`."""
    if column is not None:
        return _find_column(column, header, width, origin)
    lower = [name.lower() for name in header]
    for name in preferred:
        if name in lower:
            return lower.index(name)
    return _find_column(default, header, width, origin)


def _find_column(column: Column, header: list[str], width: int, origin: str) -> int:
    if isinstance(column, int):
        if 0 <= column < width:
            return column
    elif column in header:
        return header.index(column)
    raise LabelError(
        f"the table has no column {column!r}",
        kind="missing_column",
        shard=origin,
        expected=repr(column),
        found=", ".join(header) or f"{width} columns without names",
        hint="pass the columns of images and labels with image=... and label=... (label=None for no labels)",
    )


def _table_line_error(origin: str, line: int, expected: str, found: str, hint: str | None = None) -> LabelError:
    return LabelError(
        f"line {line} of the table is invalid",
        kind="bad_table_line",
        shard=origin,
        expected=expected,
        found=found,
        hint=hint,
    )


def _check_names(
    names: Sequence[str], lines: Sequence[int], origin: str, root: str | None, allow_duplicates: bool
) -> None:
    """Raise ImageError for invalid names, repeated names (unless allowed), and names outside `root` (if given)."""
    _check_valid_names(names, lines, origin)
    if not allow_duplicates:
        _check_unique_names(names, lines, origin)
    if root is not None:
        _check_inside_folder(root, names, lines, origin)


def _check_valid_names(names: Sequence[str], lines: Sequence[int], origin: str) -> None:
    if _is_valid_name("".join(names)):
        return
    for name, line in zip(names, lines, strict=True):
        if not _is_valid_name(name):
            raise ImageError(
                f"the file name on line {line} contains a NUL character or cannot be encoded",
                kind="bad_name",
                shard=origin,
                expected="a file name without NUL characters or lone surrogates",
                found=repr(name[:80]),
            )


def _is_valid_name(name: str) -> bool:
    try:
        return b"\0" not in os.fsencode(name)
    except UnicodeEncodeError:
        return False


def _check_unique_names(names: Sequence[str], lines: Sequence[int], origin: str) -> None:
    if len({*names}) == len(names) and not any(map(_may_change_when_normalized, names)):
        return
    line_of: dict[str, int] = {}
    for name, line in zip(names, lines, strict=True):
        normal = os.path.normpath(name)
        if normal in line_of:
            raise ImageError(
                f"line {line} lists an image that is already listed",
                kind="duplicate_name",
                shard=origin,
                expected="each image once",
                found=f"{name}, first listed on line {line_of[normal]}",
                hint="remove one of the lines, or pass allow_duplicates=True",
            )
        line_of[normal] = line


def _may_change_when_normalized(name: str) -> bool:
    """Return True if `os.path.normpath` may change a name. Such a name may be another spelling of a listed name."""
    return "//" in name or "/." in name or name.startswith(".") or name.endswith("/")


def _check_inside_folder(root: str, names: Sequence[str], lines: Sequence[int], origin: str) -> None:
    # Check only absolute names and names with "..". Other names cannot leave the folder, and resolving is slow.
    is_remote = is_address(root)
    suspects = [
        row
        for row, name in enumerate(names)
        if name.startswith(os.sep) or ".." in name or (is_remote and is_address(name))
    ]
    # The root may be a symbolic link. An image is accepted if its path begins with the root, either before or after all
    # links are resolved. `pack` later checks that links below the root do not lead outside.
    resolvers = (os.path.normpath,) if is_remote else (os.path.abspath, os.path.realpath)
    folders = [(resolve, os.path.join(resolve(root), "")) for resolve in resolvers]
    for row in suspects:
        path = names[row] if is_address(names[row]) else os.path.join(root, names[row])
        if not any(resolve(path).startswith(folder) for resolve, folder in folders):
            raise ImageError(
                f"line {lines[row]} lists an image outside the image folder",
                kind="outside_root",
                shard=origin,
                expected=f"a path inside {describe_path(root)}",
                found=describe_path(names[row]),
                hint="pass allow_outside=True if this is intended",
            )
