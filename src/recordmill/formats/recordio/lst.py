"""Read and write MXNet's ``.lst``: a line ``index<TAB>label[<TAB>label…]<TAB>path`` per image."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recordmill.errors import LabelError
from recordmill.suggestions import suggest_arguments
from recordmill.types import Ragged

SUFFIX = ".lst"
# Number of decimals with which im2rec of MXNet 1.9 writes labels.
DECIMALS = 6


@dataclass(frozen=True, eq=False, slots=True)
class ImageList:
    """Indices, labels and paths of an image list.

    Parameters
    ----------
    keys : ndarray of int64, shape (num_rows,)
        The index column.
    labels : ndarray of float64, shape (num_rows,) or (num_rows, num_labels), or Ragged of float64
        One label per image, the same number of labels for each, or different numbers (Ragged).
    names : list of str
        Paths as written in the list.
    lines : list of int
        Line number of each row, from 1.
    """

    keys: NDArray[np.int64]
    labels: NDArray[np.float64] | Ragged
    names: list[str]
    lines: list[int]


@suggest_arguments
def read_image_list(data: bytes, name: str = "the list") -> ImageList:
    """Parse an image list. Lines are split at tabs; lines without tabs are split at whitespace.

    MXNet's C++ readers also split at any whitespace. Blank lines, carriage returns and a missing last newline are
    accepted.

    Parameters
    ----------
    data : bytes
        Content of the list, UTF-8.
    name : str
        Path of the list, for error messages.

    Returns
    -------
    ImageList

    Raises
    ------
    LabelError
        If a line does not have an index, labels and a path; the error names the line.
    """
    keys: list[str] = []
    labels: list[str] = []
    counts: list[int] = []
    names: list[str] = []
    lines: list[int] = []
    for number, line in enumerate(data.decode("utf-8", "surrogateescape").removeprefix("\ufeff").split("\n"), 1):
        text = line.strip()
        if not text:
            continue
        fields = text.split("\t") if "\t" in text else _split_at_whitespace(text)
        if len(fields) < 3 or not fields[-1].strip():
            raise _line_error(name, number, "index, label and path", repr(text[:80]))
        keys.append(fields[0])
        labels += fields[1:-1]
        counts.append(len(fields) - 2)
        names.append(fields[-1].strip())
        lines.append(number)
    spread = np.repeat(lines, counts).tolist()
    values = np.array(_parse_numbers(labels, float, name, spread, "a number as the label"), np.float64)
    return ImageList(_parse_keys(keys, name, lines), _shape_labels(values, counts), names, lines)


def _split_at_whitespace(text: str) -> list[str]:
    """Split a line without tabs into index, labels and path. The path starts at the first word that is not a number."""
    words = text.split()
    end = 1
    while end < len(words) - 1 and _is_number(words[end]):
        end += 1
    return [*words[:end], text.split(None, end)[end]] if len(words) > end else words


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True


def _parse_keys(words: list[str], name: str, lines: list[int]) -> NDArray[np.int64]:
    keys = _parse_numbers(words, int, name, lines, "an integer as the index")
    for key, line in zip(keys, lines, strict=True) if keys and not 0 <= min(keys) <= max(keys) < 2**63 else ():
        if not 0 <= key < 2**63:
            raise _line_error(name, line, "an index from 0 to 2**63 - 1", str(key))
    return np.array(keys, np.int64)


def _parse_numbers(words: list[str], kind: type, name: str, lines: list[int], expected: str) -> list[Any]:
    try:
        return list(map(kind, words))
    except ValueError:
        for word, line in zip(words, lines, strict=True):
            try:
                kind(word)
            except ValueError:
                raise _line_error(name, line, expected, repr(word[:80])) from None
        raise


def _shape_labels(values: NDArray[np.float64], counts: list[int]) -> NDArray[np.float64] | Ragged:
    if len(set(counts)) > 1:
        return Ragged(values, np.concatenate(([0], np.cumsum(counts))).astype(np.int64))
    return values if not counts or counts[0] == 1 else values.reshape(len(counts), counts[0])


def _line_error(name: str, line: int, expected: str, found: str) -> LabelError:
    return LabelError(
        f"line {line} of the image list cannot be used",
        kind="bad_list_line",
        shard=name,
        expected=expected,
        found=found,
        hint="a line is index<TAB>label<TAB>path, with any number of labels",
    )


@suggest_arguments
def format_image_list(
    keys: Sequence[int], labels: Sequence[Any] | NDArray[Any], names: Sequence[str], *, decimals: int | None = DECIMALS
) -> bytes:
    """Write keys, labels and paths as the text of an image list.

    Parameters
    ----------
    keys : sequence of int
        Index of each image.
    labels : sequence of number or of sequences of numbers
        One entry per image.
    names : sequence of str
        Paths, relative to the image folder.
    decimals : int or None
        Number of decimals of each label. The default is 6, as in im2rec of MXNet 1.9 (``3.000000``). None writes the
        shortest text (``3``), as later versions of MXNet do.

    Returns
    -------
    bytes
        Content of the list, UTF-8.

    Raises
    ------
    LabelError
        If a path contains a tab or a newline, or an image has no label.
    """
    lines = []
    for key, label, name in zip(keys, labels, names, strict=True):
        texts = [_format_label(value, decimals) for value in np.asarray(label).reshape(-1).tolist()]
        if not texts or not name.strip() or any(mark in name for mark in "\t\n\r"):
            raise LabelError(
                f"image {key} cannot be written to an image list",
                kind="bad_list_line",
                expected="labels and a path",
                found=repr(name),
            )
        lines.append("\t".join((str(int(key)), *texts, name)) + "\n")
    return "".join(lines).encode("utf-8", "surrogateescape")


def _format_label(value: float, decimals: int | None) -> str:
    if decimals is not None:
        return f"{value:.{decimals}f}"
    return str(int(value)) if float(value).is_integer() else repr(value)
