"""``mx.io.MNISTIter``: batches of the digits in MNIST's own files."""

from __future__ import annotations

import logging
from typing import Any

import numpy as np

from recordmill.compat.mxnet.base import MXNetError, ParameterError, UnsupportedError
from recordmill.compat.mxnet.io.batches import DataBatch, DataDesc
from recordmill.compat.mxnet.io.idx_files import read_part
from recordmill.compat.mxnet.io.parameters import read_parameters
from recordmill.compat.mxnet.io.permuting import permute, words_of
from recordmill.compat.mxnet.io.stored import StoredIter
from recordmill.compat.mxnet.nd import wrap

_LOGGER = logging.getLogger("mxnet")
_DEFAULTS: dict[str, Any] = {
    "image": "./train-images-idx3-ubyte",
    "label": "./train-labels-idx1-ubyte",
    "batch_size": 128,
    "shuffle": True,
    "flat": False,
    "seed": 0,
    "silent": False,
    "num_parts": 1,
    "part_index": 0,
    "prefetch_buffer": 4,
    "ctx": "gpu",
    "device_id": 0,
    "dtype": None,
    "data_name": "data",
    "label_name": "softmax_label",
}
# Old programs give them, and MXNet does not look at them.
_PASSED_OVER = ("input_shape", "data_shape")
_SCALE = np.float32(1 / 256)


class MNISTIter(StoredIter):
    """Batches of grey images, as ``level / 256``, and their labels, from two files which are read when it is made.

    Rows that do not fill a batch are left out. The order of `shuffle` is MXNet's for the seed, and that of all epochs.
    """

    def __init__(self, **parameters: Any) -> None:
        given = {name: value for name, value in parameters.items() if name not in _PASSED_OVER}
        values = _checked(given)
        parts = values["num_parts"], values["part_index"]
        self._images, self._labels = read_part(values["image"], 3, *parts), read_part(values["label"], 1, *parts)
        if len(self._images) != len(self._labels):
            message, found = "images and labels differ in number", f"{len(self._images)} and {len(self._labels)}"
            raise MXNetError(message, kind="bad_shape", shard=values["label"], found=found)
        size = values["batch_size"]
        if len(self._images) < size:
            message, found = "fewer images than make a batch", f"{len(self._images)} images, batch_size {size}"
            raise ParameterError(message, kind="bad_parameter", shard=values["image"], found=found)
        super().__init__(size, len(self._images) // size)
        order = list(range(len(self._images)))
        if values["shuffle"]:
            permute(order, words_of(values["seed"]))
        self._order = np.array(order)
        height, width = self._images.shape[1:]
        self._shape = (size, height * width) if values["flat"] else (size, 1, height, width)
        self.provide_data = [DataDesc(values["data_name"], self._shape)]
        self.provide_label = [DataDesc(values["label_name"], (size,))]
        if not values["silent"]:
            told = len(self._images), values["shuffle"], self._shape
            _LOGGER.info("MNISTIter: load %d images, shuffle=%d, shape=%s", *told)

    def _make(self, number: int) -> DataBatch:
        rows = self._order[number * self.batch_size : (number + 1) * self.batch_size]
        data = self._images[rows].astype(np.float32) * _SCALE
        return DataBatch(
            [wrap(data.reshape(self._shape))],
            [wrap(self._labels[rows].astype(np.float32))],
            0,
            np.zeros(self.batch_size, np.uint64),
        )


def _checked(given: dict[str, Any]) -> dict[str, Any]:
    values = read_parameters(given | {"data_shape": (1, 1, 1)}, _DEFAULTS | {"data_shape": None}, {})
    if values["batch_size"] < 1:
        message = f"value {values['batch_size']} for Parameter batch_size should be greater equal to 1"
        raise ParameterError(message, kind="bad_parameter")
    if values["dtype"] not in (None, "float32"):
        raise UnsupportedError("the parameter dtype is float32 here", kind="unsupported", found=values["dtype"])
    return values
