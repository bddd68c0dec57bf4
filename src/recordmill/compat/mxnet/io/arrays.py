"""``mx.io.NDArrayIter``: batches of arrays in memory."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray as Array

from recordmill.compat.mxnet.base import MisuseError, MXNetError, ParameterError
from recordmill.compat.mxnet.io.batches import DataBatch, DataDesc, DataIter
from recordmill.compat.mxnet.nd import NDArray, array, wrap
from recordmill.compat.mxnet.nd.sparse import CSRNDArray

_LAST = ("pad", "discard", "roll_over")
Named = list[tuple[str, NDArray | CSRNDArray]]


class NDArrayIter(DataIter):
    """Batches of the rows of arrays."""

    def __init__(
        self,
        data: Any,
        label: Any = None,
        batch_size: int = 1,
        shuffle: bool = False,
        last_batch_handle: str = "pad",
        data_name: str = "data",
        label_name: str = "softmax_label",
    ) -> None:
        super().__init__(batch_size)
        self.data, self.label = _named_arrays(data, data_name), _named_arrays(label, label_name)
        if not self.data:
            raise MisuseError("data is one array at least", kind="bad_parameter")
        if last_batch_handle not in _LAST:
            message, expected = "unknown last_batch_handle", ", ".join(_LAST)
            raise ParameterError(message, kind="bad_parameter", expected=expected, found=repr(last_batch_handle))
        if batch_size < 1:
            raise ParameterError("batch_size is at least 1", kind="bad_parameter", found=str(batch_size))
        self.data_list = [values for _, values in self.data + self.label]
        self.num_data, self.num_source = _length(self.data + self.label), len(self.data_list)
        self.shuffle, self.last_batch_handle = shuffle, last_batch_handle
        self.idx, self._order = np.arange(self.num_data), np.arange(self.num_data)
        self._kept = self._order[:0]
        self.hard_reset()

    @property
    def provide_data(self) -> list[DataDesc]:
        """Names, shapes and dtypes of the data."""
        return self._described(self.data)

    @property
    def provide_label(self) -> list[DataDesc]:
        """Names, shapes and dtypes of the labels."""
        return self._described(self.label)

    def _described(self, arrays: Named) -> list[DataDesc]:
        return [DataDesc(name, (self.batch_size, *one.shape[1:]), one.dtype.type) for name, one in arrays]

    def reset(self) -> None:
        """Begin an epoch, with the rows that the last one kept in front."""
        if self.shuffle:
            np.random.shuffle(self.idx)  # noqa: NPY002 (np.random.seed repeats it)
            self._order = self._order[self.idx]
        self._rows = np.concatenate([self._kept, self._order])
        self._carried, self._kept = len(self._kept), self._order[:0]
        self._place = -self.batch_size

    def hard_reset(self) -> None:
        """Begin an epoch, and drop rows that were kept."""
        self._kept = self._order[:0]
        self.reset()

    @property
    def cursor(self) -> int:
        """First row of the batch that `iter_next` moved to; rows that were kept come before 0."""
        return self._place - self._carried

    def iter_next(self) -> bool:
        """Move to the next batch; False at the end."""
        self._place = min(self._place + self.batch_size, len(self._rows))
        left = len(self._rows) - self._place
        if self.last_batch_handle == "pad" or left >= self.batch_size:
            return left > 0
        if self.last_batch_handle == "roll_over" and left:
            self._kept, self._place = self._rows[self._place :], len(self._rows)
        return False

    def next(self) -> DataBatch:
        """Return the next batch; StopIteration at the end."""
        if not self.iter_next():
            raise StopIteration
        return DataBatch(self.getdata(), self.getlabel(), self.getpad(), None)

    def _taken(self) -> Array[np.int64]:
        if not 0 <= self._place < len(self._rows):
            raise MXNetError("there is no batch: call iter_next first", kind="no_batch")
        places = np.arange(self._place, self._place + self.batch_size)
        return self._rows[places % len(self._rows)]

    def getdata(self) -> Any:
        """Arrays of data of the batch that `iter_next` moved to."""
        return [_rows(one, self._taken()) for _, one in self.data]

    def getlabel(self) -> Any:
        """Arrays of labels of the batch that `iter_next` moved to."""
        return [_rows(one, self._taken()) for _, one in self.label]

    def getpad(self) -> int:
        """Rows that only fill up the batch that `iter_next` moved to; with "roll_over", those of the last epoch."""
        if self.last_batch_handle == "roll_over" and self._place == 0:
            return self._carried
        return max(self._place + self.batch_size - len(self._rows), 0)


def _rows(one: NDArray | CSRNDArray, rows: Array[np.int64]) -> NDArray:
    return wrap(one.take_rows(rows).asnumpy() if isinstance(one, CSRNDArray) else np.asarray(one)[rows])


def _named_arrays(given: Any, name: str) -> Named:
    if given is None:
        return []
    if isinstance(given, np.ndarray | CSRNDArray):
        given = [given]
    if isinstance(given, list):
        names = [name] if len(given) == 1 else [f"_{number}_{name}" for number in range(len(given))]
        given = dict(zip(names, given, strict=True))
    if not isinstance(given, dict):
        message = "Input must be NDArray, numpy.ndarray, a list of them or dict with them as values"
        raise TypeError(f"{message}, not {type(given).__name__}")
    found = [(key, one if isinstance(one, NDArray | CSRNDArray) else array(one)) for key, one in given.items()]
    return sorted(found, key=lambda pair: pair[0]) if len(found) > 1 else found


def _length(arrays: Named) -> int:
    lengths = {name: len(values) for name, values in arrays}
    if len(set(lengths.values())) > 1:
        found = ", ".join(f"{name}: {length}" for name, length in lengths.items())
        raise ParameterError("arrays differ in their number of rows", kind="bad_shape", found=found)
    return next(iter(lengths.values()))
