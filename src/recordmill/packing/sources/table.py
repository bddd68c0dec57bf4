"""A CSV or TSV table with a column of image files, labels and further features."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from recordmill.errors import LabelError
from recordmill.packing.sources.base import Items, Source, refuse_duplicates, refuse_impossible, refuse_outside

_IMAGE_NAMES = ("image", "path", "file", "filename", "file_name", "image_path", "image_id", "name")
_LABEL_NAMES = ("label", "labels", "class", "target", "category", "class_id", "y")
_TAB_ENDINGS = (".tsv", ".tab")
Column = str | int


@dataclass(frozen=True)
class Table(Source):
    """Images of a table.

    Parameters
    ----------
    path : path
        The table, UTF-8.
    root : path, optional
        Folder that the file names are relative to; the table's own by default.
    image : str or int, optional
        Column of file names, by header or position; by default ``image``, ``path``, ``file`` or a like header,
        else the first column.
    label : str, int, sequence of them, or None
        Column of labels, several for a vector, None for no labels; ``"auto"`` is ``label``, ``class``, ``target`` or
        a like header, else the second column.
    features : sequence of str or int
        Columns that become features of their own: whole numbers, numbers or text, as all their entries allow.
    classes : sequence of str, or "auto", optional
        Names of the classes in the order of their numbers, if labels are words; "auto" sorts the words that occur.
    header : bool
        Whether the first line names the columns.
    delimiter : str, optional
        Tabulator for ``.tsv`` and ``.tab``, comma else.
    allow_outside : bool
        Whether file names may lead out of `root`.
    allow_duplicates : bool
        Whether a file may be named more than once.

    Raises
    ------
    LabelError
        When the items are listed: a missing column, a short line, a label that is no number; it names the line.
    ImageError
        When the items are listed: a file name that is there twice, or leads out of the folder.
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

    def read_items(self) -> Items:
        """List the rows in the order of the table."""
        origin = os.fspath(self.path)
        head, rows, lines = self._read(origin)
        width = len(head) if head else len(rows[0]) if rows else 0
        image = _choose(self.image, head, width, _IMAGE_NAMES, 0, origin)
        wanted = self._label_columns(head, width, origin)
        extra = [_find(column, head, width, origin) for column in self.features]
        for row, line in zip(rows, lines, strict=True):
            if len(row) < width or not row[image].strip():
                raise _bad(origin, line, f"{width} columns and a file name", f"{len(row)} columns: {row}"[:120])
        names = [row[image].strip() for row in rows]
        root = (os.path.dirname(origin) or os.curdir) if self.root is None else os.fspath(self.root)
        refuse_impossible(names, origin, lines)
        if not self.allow_duplicates:
            refuse_duplicates(names, origin, lines)
        if not self.allow_outside:
            refuse_outside(root, names, origin, lines)
        labels = self._labels(rows, wanted, origin, lines)
        columns = {
            str(column): _values([row[at] for row in rows]) for column, at in zip(self.features, extra, strict=True)
        }
        return Items(names, np.arange(len(names)), root, labels, extra=columns, origin=origin, lines=lines)

    def _read(self, origin: str) -> tuple[list[str], list[list[str]], list[int]]:
        delimiter = self.delimiter or ("\t" if origin.lower().endswith(_TAB_ENDINGS) else ",")
        try:
            text = Path(origin).read_bytes().decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise _bad(origin, error.object[: error.start].count(b"\n") + 1, "UTF-8 text", "other bytes") from None
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
        rows: list[list[str]] = []
        lines: list[int] = []
        try:
            for row in reader:
                if row:
                    rows.append(row)
                    lines.append(reader.line_num)
        except csv.Error as error:
            raise _bad(origin, reader.line_num, "a line of the table", str(error)) from None
        head = [name.strip() for name in rows.pop(0)] if self.header and rows else []
        return head, rows, lines[1:] if head else lines

    def _label_columns(self, head: list[str], width: int, origin: str) -> list[int]:
        if self.label is None:
            return []
        if self.label == "auto":
            return [_choose(None, head, width, _LABEL_NAMES, 1, origin)]
        columns = [self.label] if isinstance(self.label, str | int) else self.label
        return [_find(column, head, width, origin) for column in columns]

    def _labels(self, rows: list[list[str]], wanted: list[int], origin: str, lines: list[int]) -> NDArray[Any] | None:
        if not wanted:
            return None
        words = [row[at].strip() for row in rows for at in wanted]
        if self.classes is not None:
            classes = sorted(set(words)) if self.classes == "auto" else list(self.classes)
            numbers = {name: number for number, name in enumerate(classes)}
            found: list[Any] = [numbers.get(word) for word in words]
            expected = f"one of {', '.join(classes)}"[:120]
        else:
            found, expected = _as_numbers(words), "a number as label"
        for at, value in enumerate(found):
            if value is None:
                hint = None if self.classes is not None else 'labels that are words need classes="auto" or a list'
                raise _bad(origin, lines[at // len(wanted)], expected, repr(words[at]), hint)
        values = np.array(found) if found else np.zeros(0, np.int64)
        return values if len(wanted) == 1 else values.reshape(-1, len(wanted))


def _as_numbers(words: list[str]) -> list[Any]:
    """Return whole numbers if all are and fit 64 bits, else floats; None for a word that is no number."""
    for kind in (int, float):
        try:
            values = list(map(kind, words))
        except ValueError:
            continue
        if kind is float or not values or (min(values) >= -(2**63) and max(values) < 2**63):
            return values
    return [float(word) if _is_number(word) else None for word in words]


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True


def _values(words: list[str]) -> NDArray[Any] | list[str]:
    for kind, dtype in ((int, np.int64), (float, np.float32)):
        try:
            return np.array(list(map(kind, words)), dtype)
        except (ValueError, OverflowError):
            continue
    return words


def _choose(
    column: Column | None, head: list[str], width: int, usual: tuple[str, ...], otherwise: int, origin: str
) -> int:
    if column is not None:
        return _find(column, head, width, origin)
    lower = [name.lower() for name in head]
    for name in usual:
        if name in lower:
            return lower.index(name)
    return _find(otherwise, head, width, origin)


def _find(column: Column, head: list[str], width: int, origin: str) -> int:
    if isinstance(column, int):
        if 0 <= column < width:
            return column
    elif column in head:
        return head.index(column)
    raise LabelError(
        "the table has no such column",
        kind="missing_column",
        shard=origin,
        expected=repr(column),
        found=", ".join(head) or f"{width} columns without names",
        hint="say which columns hold image and label: image=..., label=... (label=None for none)",
    )


def _bad(origin: str, line: int, expected: str, found: str, hint: str | None = None) -> LabelError:
    return LabelError(
        f"line {line} of the table cannot be used",
        kind="bad_table_line",
        shard=origin,
        expected=expected,
        found=found,
        hint=hint,
    )
