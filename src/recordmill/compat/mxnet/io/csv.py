"""``mx.io.CSVIter``: batches of the rows of text files."""

from __future__ import annotations

import math
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recordmill.compat.mxnet.base import ParameterError, translated
from recordmill.compat.mxnet.io.arrays import NDArrayIter
from recordmill.compat.mxnet.io.parameters import read_parameters
from recordmill.compat.mxnet.io.text import read_lengths, rounded_apart, split_exponent
from recordmill.compat.mxnet.nd import wrap

# No file of labels, in MXNet's words.
_NONE = "NULL"
_DTYPES = (None, "float32", "int32", "int64")
_DEFAULTS: dict[str, Any] = {
    "data_csv": "",
    "label_csv": _NONE,
    "data_shape": None,
    "label_shape": (1,),
    "batch_size": None,
    "data_name": "data",
    "label_name": "softmax_label",
    "round_batch": True,
    "prefetch_buffer": 4,
    "ctx": "gpu",
    "device_id": 0,
    "dtype": None,
}
_NO_MARKS = bytes(byte for byte in range(256) if byte not in b"e,")
_NEEDED = ("data_csv", "data_shape")


class CSVIter(NDArrayIter):
    """Batches of the rows of one or two files of numbers with commas between, which are read when it is made.

    The last batch is completed with the first rows, and says in `pad` with how many; every epoch begins with the first
    row.
    """

    def __init__(self, **parameters: Any) -> None:
        for name in _NEEDED:
            if not parameters.get(name):
                raise ParameterError(f"Required parameter {name} is not presented", kind="bad_parameter", expected=name)
        shapes = {name: read_lengths(name, parameters.get(name, (1,))) for name in ("data_shape", "label_shape")}
        values = read_parameters(parameters | {"data_shape": (1, 1, 1), "label_shape": (1,)}, _DEFAULTS, {})
        if values["dtype"] not in _DTYPES:
            message, expected = f"unknown dtype for CSVIter: {values['dtype']}", "float32, int32 or int64"
            raise ParameterError(message, kind="bad_parameter", expected=expected, found=values["dtype"])
        dtype = np.dtype(values["dtype"] or "float32")
        data = _rows(values["data_csv"], shapes["data_shape"], dtype)
        if values["label_csv"] == _NONE:
            label = np.zeros((len(data), *shapes["label_shape"]), dtype)
        else:
            label = _rows(values["label_csv"], shapes["label_shape"], dtype)
        label = label[:, 0] if shapes["label_shape"] == (1,) else label
        names = {"data_name": values["data_name"], "label_name": values["label_name"]}
        super().__init__(wrap(data), wrap(label), values["batch_size"], **names)


def _rows(path: str, shape: tuple[int, ...], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Rows of a file, of one shape each."""
    try:
        with translated(shard=path), warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # an empty file is an error below
            values = _numbers(path, dtype)
    except ValueError as error:
        raise ParameterError(f"the file is no table of numbers: {error}", kind="bad_csv", shard=path) from error
    if not values.size or values.shape[1] != math.prod(shape):
        message = "Check failed: row.length == shape.Size(): The data size in CSV do not match size of shape"
        found = f"{values.shape[1] if values.size else 0} values in a row"
        expected = f"{math.prod(shape)} for shape {shape}"
        raise ParameterError(message, kind="bad_csv", shard=path, expected=expected, found=found)
    return values.reshape(-1, *shape)


def _numbers(path: str, dtype: np.dtype[Any]) -> NDArray[Any]:
    options: dict[str, Any] = {"delimiter": ",", "ndmin": 2, "comments": None}
    if dtype.kind == "i":
        try:
            return np.loadtxt(path, np.int64, **options).astype(dtype)
        except ValueError:  # fractions, of which the whole part counts
            return np.loadtxt(path, np.float64, **options).astype(dtype)
    lines = Path(path).read_bytes().lower().splitlines()
    if not any(b"e" in line for line in lines):
        values: NDArray[np.float64] = np.loadtxt(lines, np.float64, **options)
        return rounded_apart(values, np.zeros(values.shape, np.int64))
    table: NDArray[np.float64] = np.loadtxt(map(_apart, lines), np.float64, **options)
    digits, exponents = table[:, ::2], table[:, 1::2]
    if (exponents != np.trunc(exponents)).any():
        raise ValueError("an exponent is a whole number")
    return rounded_apart(digits, np.clip(exponents, -1000, 1000).astype(np.int64))


def _apart(line: bytes) -> bytes:
    """Line whose numbers are two each: digits and exponent."""
    marks = line.translate(None, _NO_MARKS)
    if marks == b"e," * (len(marks) // 2) + b"e":  # one exponent each
        return line.replace(b"e", b",")
    return b",".join(b",".join(split_exponent(number)) for number in line.split(b",")) if line.strip() else line
