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
from recordmill.compat.mxnet.io.text import rounded_apart
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
    labels, values, columns, ends = array("d"), array("d"), array("q"), array("q", [0])
    for path, number, line in _lines(find_files(names, parameter), num_parts, part_index):
        try:
            _read_line(line, width, labels, values, columns)
        except ValueError as error:
            message = f"line {number + 1} is no row of a label and column:value pairs: {error}"
            raise MXNetError(message, kind="bad_libsvm", shard=path, record=number) from error
        ends.append(len(values))
    if not labels:
        message, found = "the part has no rows", f"part {part_index} of {num_parts}"
        raise ParameterError(message, kind="empty_part", shard=names, found=found)
    data, indices, indptr = rounded_apart(np.array(values)), np.array(columns, np.int64), np.array(ends, np.int64)
    return rounded_apart(np.array(labels)), CSRNDArray(data, indices, indptr, (len(labels), width))


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


def _read_line(words: list[bytes], width: int, labels: array[float], values: array[float], columns: array[int]) -> None:
    """Put a label, its values and their columns behind those that are there."""
    labels.append(_number(words[0].partition(b":")[0]))  # a weight may follow
    for word in words[1:]:
        column, colon, value = word.partition(b":")
        if column == b"qid":
            continue
        if not (colon and column.isdigit()):
            raise ValueError(f"expected column:value, found {word[:40]!r}")
        if (place := int(column[:20])) >= width:
            raise ValueError(f"column {place} of a row of {width} (the first is 0)")
        values.append(_number(value))
        columns.append(place)


def _number(word: bytes) -> float:
    if b"_" in word:
        raise ValueError(f"no number: {word[:40]!r}")
    return float(word)
