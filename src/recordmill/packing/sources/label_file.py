"""A folder of images and a label file: JSON lines that map file names to labels."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from recordmill.errors import LabelError
from recordmill.packing.sources.base import Items, Source, refuse_duplicates, refuse_impossible, refuse_outside

_LIMIT = 2**63


class _Pairs(list[tuple[str, Any]]):
    """The members of a JSON object, duplicates included."""


# One for all lines: json.loads with a hook makes one for each.
_DECODER = json.JSONDecoder(object_pairs_hook=_Pairs)


@dataclass(frozen=True)
class LabelFile(Source):
    r"""Images named by a file of JSON lines, each an object such as ``{"0001.png": 5}``; several names may share one.

    Parameters
    ----------
    labels : path
        The label file, UTF-8.
    root : path, optional
        Folder that the names are relative to. Without it they are paths as they are.
    allow_outside : bool
        Whether names may lead out of `root`.
    allow_duplicates : bool
        Whether a file may be named more than once.

    Raises
    ------
    LabelError
        When the items are listed: a line that is no JSON object of names and numbers; it names the line.
    ImageError
        When the items are listed: a name that is there twice, or leads out of the folder.

    References
    ----------
    OneFlow, "Convert the image files to OFRecord datasets": ``label.txt``.
    """

    labels: str | os.PathLike[str]
    root: str | os.PathLike[str] | None = None
    allow_outside: bool = False
    allow_duplicates: bool = False

    def read_items(self) -> Items:
        """List the images in the order of the file."""
        origin = os.fspath(self.labels)
        names: list[str] = []
        labels: list[int | float] = []
        lines: list[int] = []
        for number, line in enumerate(_lines(origin), 1):
            for name, label in _parse(line, origin, number):
                names.append(name)
                labels.append(_label(name, label, origin, number))
                lines.append(number)
        refuse_impossible(names, origin, lines)
        if not self.allow_duplicates:
            refuse_duplicates(names, origin, lines)
        root = "" if self.root is None else os.fspath(self.root)
        if root and not self.allow_outside:
            refuse_outside(root, names, origin, lines)
        whole = all(isinstance(label, int) for label in labels)
        values = np.array(labels, np.int64 if whole else np.float64)
        return Items(names, np.arange(len(names)), root, values, origin=origin, lines=lines)


def _lines(path: str) -> list[str]:
    """Lines of the file; blank ones at its end are none."""
    try:
        text = Path(path).read_text("utf-8-sig")
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise _bad(path, line, "UTF-8 text", "other bytes") from None
    return text.rstrip().split("\n") if text.strip() else []


def _decode(line: str) -> Any:
    """Value of a line; of one without spaces around it, which is quicker told, at once."""
    if line.startswith("{"):
        value, end = _DECODER.raw_decode(line)
        if end == len(line):
            return value
    return _DECODER.decode(line)


def _parse(line: str, origin: str, number: int) -> _Pairs:
    if not line.strip():
        raise _bad(origin, number, 'an object such as {"0001.png": 5}', "an empty line")
    try:
        value = _decode(line)
    except ValueError as error:
        raise _bad(origin, number, "JSON", f"{line[:80]!r}: {error}") from None
    except RecursionError:
        raise _bad(origin, number, "a flat object", "deeply nested JSON") from None
    if not isinstance(value, _Pairs):
        raise _bad(origin, number, 'an object such as {"0001.png": 5}', repr(line[:80]))
    if not value:
        raise _bad(origin, number, "at least one file name", "an empty object")
    return value


def _label(name: str, label: Any, origin: str, number: int) -> int | float:
    if not name:
        raise _bad(origin, number, "a file name", "an empty name")
    if isinstance(label, int | float) and not isinstance(label, bool) and -_LIMIT <= label < _LIMIT:
        return label
    raise _bad(origin, number, f"a number as label of {name!r}", repr(label)[:80])


def _bad(origin: str, line: int, expected: str, found: str) -> LabelError:
    return LabelError(
        f"line {line} of the label file cannot be used",
        kind="bad_label_line",
        shard=origin,
        expected=expected,
        found=found,
    )
