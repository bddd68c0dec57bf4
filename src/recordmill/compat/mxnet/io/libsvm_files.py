"""Rows of text files in the form of LibSVM: a label, and ``column:value`` pairs; ``#`` begins a comment."""

from __future__ import annotations

import itertools
import os
import warnings
from array import array
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from recordmill.compat.mxnet.base import MXNetError, ParameterError
from recordmill.compat.mxnet.io.files import find_files
from recordmill.compat.mxnet.io.text import rounded_apart, split_exponent
from recordmill.compat.mxnet.nd.sparse import CSRNDArray

# Number and text.
Line = tuple[int, bytes]
_LINES = 4096
# What lines are made of whose numbers can be read together.
_USUAL = b"0123456789.+-: \t"


def read_rows(
    names: str, parameter: str, width: int, num_parts: int, part_index: int
) -> tuple[NDArray[np.float32], CSRNDArray]:
    """Labels and rows of one part of some files."""
    if not 0 <= part_index < num_parts:
        message = "Check failed: part < nsplit: invalid input parameter for InputSplit::Create"
        found = f"part_index {part_index} of num_parts {num_parts}"
        raise ParameterError(message, kind="bad_parameter", found=found)
    rows = _Rows(width)
    for path, lines in _blocks(find_files(names, parameter), num_parts, part_index):
        if not rows.put_together([line for _, line in lines]):
            rows.put_one_by_one(path, lines)
    if not rows.counts:
        message, found = "the part has no rows", f"part {part_index} of {num_parts}"
        raise ParameterError(message, kind="empty_part", shard=names, found=found)
    indptr = np.concatenate([[0], np.cumsum(rows.counts)])
    data, indices = rows.values.numbers(), np.array(rows.columns, np.int64)
    return rows.labels.numbers(), CSRNDArray(data, indices, indptr, (len(rows.counts), width))


def _blocks(paths: list[str], num_parts: int, part_index: int) -> Iterator[tuple[str, list[Line]]]:
    """File, and numbers and texts of some lines of the part that are not empty."""
    sizes = [os.path.getsize(path) for path in paths]
    step = -(-sum(sizes) // num_parts)
    first, last, begins = part_index * step, (part_index + 1) * step, 0
    for path, size in zip(paths, sizes, strict=True):
        lines = _lines(path, begins, first, last)
        while some := list(itertools.islice(lines, _LINES)):
            yield path, some
        begins += size


def _lines(path: str, begins: int, first: int, last: int) -> Iterator[Line]:
    """Lines of a file that begins at a place of all bytes, of those from `first` up to `last`."""
    place = begins
    with Path(path).open("rb") as file:
        for number, line in enumerate(file):
            # A line that begins just where a part does belongs to the part before, unless a file begins there.
            if first <= max(place - 1, begins) < last and (text := line.partition(b"#")[0].strip()):
                yield number, text
            place += len(line)


class _Rows:
    """Rows one behind another."""

    def __init__(self, width: int) -> None:
        self._width = width
        self.labels, self.values = _Column(), _Column()
        self.columns, self.counts = array("q"), array("q")

    def put_together(self, lines: list[bytes]) -> bool:
        """Put lines of usual numbers behind those that are there; False, and nothing, if there is anything else."""
        text = b" ".join(lines)
        if text.translate(None, _USUAL):
            return False
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            try:
                numbers: NDArray[np.float64] = np.fromstring(text.replace(b":", b" "), sep=" ")
            except (ValueError, DeprecationWarning):
                return False
        counts = np.array([line.count(b":") for line in lines], np.int64)
        if len(numbers) != len(lines) + 2 * counts.sum():
            return False
        of_labels = np.concatenate([[0], np.cumsum(1 + 2 * counts)[:-1]])
        pairs = np.delete(numbers, of_labels).reshape(-1, 2)
        columns = pairs[:, 0]
        if ((columns < 0) | (columns >= self._width) | (columns != np.trunc(columns))).any():
            return False
        self.labels.extend(numbers[of_labels])
        self.values.extend(pairs[:, 1])
        self.columns.frombytes(columns.astype(np.int64).tobytes())
        self.counts.frombytes(counts.tobytes())
        return True

    def put_one_by_one(self, path: str, lines: list[Line]) -> None:
        """Put lines behind those that are there; an error names the one that is no row."""
        for number, line in lines:
            try:
                count = self._put(line.split())
            except ValueError as error:
                message = f"line {number + 1} is no row of a label and column:value pairs: {error}"
                raise MXNetError(message, kind="bad_libsvm", shard=path, record=number) from error
            self.counts.append(count)

    def _put(self, words: list[bytes]) -> int:
        """Put a label, its values and their columns behind those that are there, and return how many."""
        self.labels.append(words[0].partition(b":")[0])  # a weight may follow
        count = 0
        for word in words[1:]:
            column, colon, value = word.partition(b":")
            if column == b"qid":
                continue
            if not (colon and column.isdigit()):
                raise ValueError(f"expected column:value, found {word[:40]!r}")
            if (place := int(column[:20])) >= self._width:
                raise ValueError(f"column {place} of a row of {self._width} (the first is 0)")
            self.values.append(value)
            self.columns.append(place)
            count += 1
        return count


class _Column:
    """Numbers one behind another, as digits and exponents."""

    def __init__(self) -> None:
        self._digits, self._exponents = array("d"), array("h")

    def extend(self, digits: NDArray[np.float64]) -> None:
        """Put numbers without exponents behind those that are there."""
        self._digits.frombytes(digits.tobytes())
        self._exponents.frombytes(bytes(2 * len(digits)))

    def append(self, word: bytes) -> None:
        """Put a number behind those that are there; ValueError if it is none."""
        if b"_" in word:
            raise ValueError(f"no number: {word[:40]!r}")
        digits, exponent = split_exponent(word)
        self._digits.append(float(digits))
        self._exponents.append(min(max(int(exponent[:20]), -1000), 1000))

    def numbers(self) -> NDArray[np.float32]:
        """All of them, as MXNet rounds them."""
        return rounded_apart(np.array(self._digits), np.array(self._exponents, np.int64))
