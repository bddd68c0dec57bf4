"""Rows of text files in the form of LibSVM: a label, and ``column:value`` pairs; ``#`` begins a comment."""

from __future__ import annotations

import os
from array import array
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from recordmill.compat.mxnet.base import MXNetError, ParameterError
from recordmill.compat.mxnet.io.files import find_files
from recordmill.compat.mxnet.io.text import rounded_apart, split_exponent
from recordmill.compat.mxnet.nd.sparse import CSRNDArray


def read_rows(
    names: str, parameter: str, width: int, num_parts: int, part_index: int
) -> tuple[NDArray[np.float32], CSRNDArray]:
    """Labels and rows of one part of some files.

    Parameters
    ----------
    names : str
        One, several with semicolons between, or a folder.
    parameter : str
        Whose value that is.
    width : int
        Columns.
    num_parts, part_index : int
        Parts have as many bytes, and end where a line does.

    Returns
    -------
    labels : ndarray of float32, shape (n,)
    rows : CSRNDArray, shape (n, width)

    Raises
    ------
    ParameterError
        No such part, or one without rows.
    MXNetError
        A line that is no row.
    """
    if not 0 <= part_index < num_parts:
        message = "Check failed: part < nsplit: invalid input parameter for InputSplit::Create"
        found = f"part_index {part_index} of num_parts {num_parts}"
        raise ParameterError(message, kind="bad_parameter", found=found)
    labels, values, columns, ends = _Column(), _Column(), array("q"), array("q", [0])
    for path, number, line in _lines(find_files(names, parameter), num_parts, part_index):
        try:
            _read_line(line, width, labels, values, columns)
        except ValueError as error:
            message = f"line {number + 1} is no row of a label and column:value pairs: {error}"
            raise MXNetError(message, kind="bad_libsvm", shard=path, record=number) from error
        ends.append(len(columns))
    if len(ends) == 1:
        message, found = "the part has no rows", f"part {part_index} of {num_parts}"
        raise ParameterError(message, kind="empty_part", shard=names, found=found)
    indices, indptr = np.array(columns, np.int64), np.array(ends, np.int64)
    return labels.numbers(), CSRNDArray(values.numbers(), indices, indptr, (len(ends) - 1, width))


class _Column:
    """Numbers one behind another, as digits and exponents."""

    def __init__(self) -> None:
        self._digits, self._exponents = array("d"), array("h")

    def append(self, word: bytes) -> None:
        """Put a number behind those that are there; ValueError if it is none."""
        if b"_" in word:
            raise ValueError(f"no number: {word[:40]!r}")
        digits, exponent = split_exponent(word)
        self._digits.append(float(digits))
        self._exponents.append(min(max(int(exponent[:20]), -1000), 1000))

    def numbers(self) -> NDArray[np.float32]:
        return rounded_apart(np.array(self._digits), np.array(self._exponents, np.int64))


def _lines(paths: list[str], num_parts: int, part_index: int) -> Iterator[tuple[str, int, list[bytes]]]:
    """File, number and words of each line of the part that has words."""
    sizes = [os.path.getsize(path) for path in paths]
    step = -(-sum(sizes) // num_parts)
    first, last, begins = part_index * step, (part_index + 1) * step, 0
    for path, size in zip(paths, sizes, strict=True):
        place = begins
        with Path(path).open("rb") as file:
            for number, line in enumerate(file):
                # A line that begins just where a part does belongs to the part before, unless a file begins there.
                if first <= max(place - 1, begins) < last and (words := line.partition(b"#")[0].split()):
                    yield path, number, words
                place += len(line)
        begins += size


def _read_line(words: list[bytes], width: int, labels: _Column, values: _Column, columns: array[int]) -> None:
    """Put a label, its values and their columns behind those that are there."""
    labels.append(words[0].partition(b":")[0])  # a weight may follow
    for word in words[1:]:
        column, colon, value = word.partition(b":")
        if column == b"qid":
            continue
        if not (colon and column.isdigit()):
            raise ValueError(f"expected column:value, found {word[:40]!r}")
        if (place := int(column[:20])) >= width:
            raise ValueError(f"column {place} of a row of {width} (the first is 0)")
        values.append(value)
        columns.append(place)
