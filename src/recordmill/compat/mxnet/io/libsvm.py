"""``mx.io.LibSVMIter``: batches of sparse rows from text files of labels and ``column:value`` pairs."""

from __future__ import annotations

from typing import Any

import numpy as np

from recordmill.compat.mxnet.base import ParameterError, UnsupportedError
from recordmill.compat.mxnet.io.batches import DataBatch, DataDesc
from recordmill.compat.mxnet.io.libsvm_files import read_rows
from recordmill.compat.mxnet.io.parameters import read_parameters
from recordmill.compat.mxnet.io.stored import StoredIter
from recordmill.compat.mxnet.io.text import read_lengths
from recordmill.compat.mxnet.nd import wrap

# No file of labels, in MXNet's words.
_NONE = "NULL"
_DEFAULTS: dict[str, Any] = {
    "data_libsvm": "",
    "label_libsvm": _NONE,
    "data_shape": None,
    "label_shape": (1,),
    "num_parts": 1,
    "part_index": 0,
    "batch_size": None,
    "round_batch": True,
    "prefetch_buffer": 4,
    "ctx": "gpu",
    "device_id": 0,
    "dtype": None,
    "data_name": "data",
    "label_name": "softmax_label",
}


class LibSVMIter(StoredIter):
    """Batches of the rows of one or two files, which are read when it is made; columns are counted from 0.

    Data are matrices of ``mx.nd.sparse``, and so are labels that come from a file of their own. The last batch is
    completed with the first rows, and says in `pad` with how many; every epoch begins with the first row.
    """

    def __init__(self, **parameters: Any) -> None:
        values, width, label_width = _checked(parameters)
        parts = values["num_parts"], values["part_index"]
        self._scalars, self._rows = read_rows(values["data_libsvm"], "data_libsvm", width, *parts)
        self._labels = None
        if values["label_libsvm"] != _NONE:
            _, self._labels = read_rows(values["label_libsvm"], "label_libsvm", label_width, *parts)
            _refuse_fewer_labels(len(self._rows), len(self._labels))
        size, count = values["batch_size"], len(self._rows)
        super().__init__(size, -(-count // size))
        if self._num_batches * size > 2 * count:
            message, found = "number of input must be bigger than batch size", f"{count} rows, batch_size {size}"
            raise ParameterError(message, kind="bad_parameter", shard=values["data_libsvm"], found=found)
        self.provide_data = [DataDesc(values["data_name"], (size, width))]
        shape = (size,) if self._labels is None else (size, label_width)
        self.provide_label = [DataDesc(values["label_name"], shape)]

    def _make(self, number: int) -> DataBatch:
        places, count = np.arange(number * self.batch_size, (number + 1) * self.batch_size), len(self._rows)
        rows = places % count
        label: Any = wrap(self._scalars[rows]) if self._labels is None else self._labels.take_rows(rows)
        pad = int((places >= count).sum())
        return DataBatch([self._rows.take_rows(rows)], [label], pad, rows.astype(np.uint64))


def _refuse_fewer_labels(rows: int, labels: int) -> None:
    if labels < rows:
        message = "Data LibSVM's row is smaller than the number of rows in label_libsvm: there are fewer labels"
        raise ParameterError(message, kind="bad_label", expected=f"{rows} rows", found=f"{labels} rows")


def _checked(parameters: dict[str, Any]) -> tuple[dict[str, Any], int, int]:
    """Parameters, and the columns of data and labels."""
    for name in ("data_libsvm", "data_shape"):
        if not parameters.get(name):
            raise ParameterError(f"Required parameter {name} is not presented", kind="bad_parameter", expected=name)
    shapes = {name: read_lengths(name, parameters.get(name, (1,))) for name in ("data_shape", "label_shape")}
    values = read_parameters(parameters | {"data_shape": (1, 1, 1), "label_shape": (1,)}, _DEFAULTS, {})
    for name, shape in shapes.items():
        if len(shape) != 1:
            message = f"dimension of {name} is expected to be 1"
            raise ParameterError(message, kind="bad_parameter", found=str(shape))
    width, label_width = (shape[0] for shape in shapes.values())
    of_its_own = values["label_libsvm"] != _NONE
    if of_its_own != (label_width > 1):
        message = f"label_shape is {'not ' if of_its_own else ''}expected to be (1,) when label_libsvm is "
        message += "set" if of_its_own else "NULL"
        raise ParameterError(message, kind="bad_parameter", found=str(shapes["label_shape"]))
    if values["batch_size"] < 1:
        raise ParameterError("batch_size is at least 1", kind="bad_parameter", found=str(values["batch_size"]))
    if not values["round_batch"]:
        message = "sparse batch loader doesn't support round_batch == false yet"
        raise UnsupportedError(message, kind="unsupported", found="round_batch=False", hint="look at batch.pad")
    if values["dtype"] not in (None, "float32"):
        raise UnsupportedError("the parameter dtype is float32 here", kind="unsupported", found=values["dtype"])
    return values, width, label_width
