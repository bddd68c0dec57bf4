"""``mx.io.NDArrayIter``: batches of arrays in memory."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray as Array

from recordmill.compat.mxnet.base import MisuseError, MXNetError, ParameterError
from recordmill.compat.mxnet.io.batches import DataBatch, DataDesc, DataIter
from recordmill.compat.mxnet.nd import NDArray, array, wrap

_LAST_BATCH = ("pad", "discard", "roll_over")
NamedArrays = list[tuple[str, NDArray]]


class NDArrayIter(DataIter):
    """Batches of the rows of arrays; shuffled by ``numpy.random``."""

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
        self.data, self.label = _name_arrays(data, data_name), _name_arrays(label, label_name)
        if not self.data:
            raise MisuseError("data must contain at least one array")
        if last_batch_handle not in _LAST_BATCH:
            message, expected = "unknown last_batch_handle", ", ".join(_LAST_BATCH)
            raise ParameterError(message, expected=expected, found=repr(last_batch_handle))
        if batch_size < 1:
            raise ParameterError(f"batch_size must be positive, got {batch_size}")
        self.num_data = _common_length(self.data + self.label)
        self.shuffle, self.last_batch_handle = shuffle, last_batch_handle
        self.idx, self._order = np.arange(self.num_data), np.arange(self.num_data)
        self._leftover = self._order[:0]
        self.hard_reset()

    @property
    def provide_data(self) -> list[DataDesc]:
        return self._describe(self.data)

    @property
    def provide_label(self) -> list[DataDesc]:
        return self._describe(self.label)

    def _describe(self, arrays: NamedArrays) -> list[DataDesc]:
        return [DataDesc(name, (self.batch_size, *one.shape[1:]), one.dtype.type) for name, one in arrays]

    def reset(self) -> None:
        """Start an epoch with the rows that the last one left over."""
        if self.shuffle:
            np.random.shuffle(self.idx)  # noqa: NPY002 (np.random.seed repeats it)
            self._order = self._order[self.idx]
        self._rows = np.concatenate([self._leftover, self._order])
        self._num_carried, self._leftover = len(self._leftover), self._order[:0]
        self._start = -self.batch_size

    def hard_reset(self) -> None:
        """Start an epoch and drop rows that were left over."""
        self._leftover = self._order[:0]
        self.reset()

    @property
    def cursor(self) -> int:
        """First row of the current batch; rows that were left over have negative numbers."""
        return self._start - self._num_carried

    def iter_next(self) -> bool:
        self._start = min(self._start + self.batch_size, len(self._rows))
        num_left = len(self._rows) - self._start
        if self.last_batch_handle == "pad" or num_left >= self.batch_size:
            return num_left > 0
        if self.last_batch_handle == "roll_over" and num_left:
            self._leftover, self._start = self._rows[self._start :], len(self._rows)
        return False

    def next(self) -> DataBatch:
        if not self.iter_next():
            raise StopIteration
        return DataBatch(self.getdata(), self.getlabel(), self.getpad(), None)

    def getdata(self) -> Any:
        return self._select(self.data)

    def getlabel(self) -> Any:
        return self._select(self.label)

    def getpad(self) -> int:
        """Return the number of rows that only fill the batch; with "roll_over", those of the last epoch."""
        if self.last_batch_handle == "roll_over" and self._start == 0:
            return self._num_carried
        return max(self._start + self.batch_size - len(self._rows), 0)

    def _select(self, arrays: NamedArrays) -> list[NDArray]:
        if not 0 <= self._start < len(self._rows):
            raise MXNetError("there is no current batch: call iter_next first", kind="no_batch")
        places = np.arange(self._start, self._start + self.batch_size)
        rows: Array[np.int64] = self._rows[places % len(self._rows)]
        return [wrap(np.asarray(one)[rows]) for _, one in arrays]


def _name_arrays(given: Any, name: str) -> NamedArrays:
    if given is None:
        return []
    if isinstance(given, np.ndarray):
        given = [given]
    if isinstance(given, list):
        names = [name] if len(given) == 1 else [f"_{number}_{name}" for number in range(len(given))]
        given = dict(zip(names, given, strict=True))
    if not isinstance(given, dict):
        message = "Input must be NDArray, numpy.ndarray, a list of them or dict with them as values"
        raise TypeError(f"{message}, not {type(given).__name__}")
    found = [(key, one if isinstance(one, NDArray) else array(one)) for key, one in given.items()]
    return sorted(found, key=lambda pair: pair[0]) if len(found) > 1 else found


def _common_length(arrays: NamedArrays) -> int:
    lengths = {name: len(values) for name, values in arrays}
    if len(set(lengths.values())) > 1:
        found = ", ".join(f"{name}: {length}" for name, length in lengths.items())
        raise ParameterError("arrays must have the same number of rows", kind="bad_shape", found=found)
    return next(iter(lengths.values()))
