"""``mx.io.NDArrayIter`` and ``PrefetchingIter``, the base classes of iterators, and `DataBatch`."""

from __future__ import annotations

import itertools
from collections import namedtuple
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray as Array

from recordmill.compat.mxnet.base import MisuseError, MXNetError, ParameterError
from recordmill.compat.mxnet.nd import NDArray, array, as_ndarray
from recordmill.concurrency.prefetch import Prefetcher

LAST_BATCH = ("pad", "discard", "roll_over")
NamedArrays = list[tuple[str, NDArray]]


class DataDesc(namedtuple("DataDesc", ["name", "shape"])):  # noqa: PYI024, SLOT002 (programs unpack two values)
    """``mx.io.DataDesc``: name and shape of one array in a batch; `dtype` and `layout` are attributes."""

    dtype: Any
    layout: str

    def __new__(cls, name: str, shape: Any, dtype: Any = np.float32, layout: str = "NCHW") -> Self:
        """Create the (name, shape) pair, and set `dtype` and `layout` as attributes."""
        desc = super().__new__(cls, name, shape)
        desc.dtype, desc.layout = dtype, layout
        return desc

    def __repr__(self) -> str:
        return f"DataDesc[{self.name},{self.shape},{self.dtype},{self.layout}]"


class DataBatch:
    """``mx.io.DataBatch``: the data and label arrays of one batch."""

    def __init__(
        self,
        data: Any,
        label: Any = None,
        pad: int | None = None,
        index: Any = None,
        bucket_key: Any = None,
        provide_data: Any = None,
        provide_label: Any = None,
    ) -> None:
        for name, value in (("Data", data), ("Label", label)):
            if value is not None and not isinstance(value, list | tuple):
                raise MisuseError(f"{name} must be list of NDArrays", found=type(value).__name__)
        self.data, self.label, self.pad, self.index = data, label, pad, index
        self.bucket_key, self.provide_data, self.provide_label = bucket_key, provide_data, provide_label

    def __str__(self) -> str:
        shapes = [[array.shape for array in arrays] if arrays else None for arrays in (self.data, self.label)]
        return f"{type(self).__name__}: data shapes: {shapes[0]} label shapes: {shapes[1]}"


class DataIter:
    """Base class of iterators; subclasses implement `next`, or `iter_next` and the ``get`` methods."""

    def __init__(self, batch_size: int = 0) -> None:
        self.batch_size = batch_size

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> DataBatch:
        return self.next()

    def reset(self) -> None:
        """Start the next epoch; does nothing in the base class."""

    def next(self) -> DataBatch:
        """Return the next batch; raise StopIteration at the end."""
        if not self.iter_next():
            raise StopIteration
        return DataBatch(self.getdata(), self.getlabel(), self.getpad(), self.getindex())

    def iter_next(self) -> bool:
        """Move to the next batch; return False at the end."""
        return False

    def getdata(self) -> Any:
        """Return the data of the current batch."""
        return None

    def getlabel(self) -> Any:
        """Return the labels of the current batch."""
        return None

    def getindex(self) -> Any:
        """Return the ids of the samples of the current batch."""
        return None

    def getpad(self) -> Any:
        """Return the number of padding rows at the end of the current batch."""
        return 0


class CurrentBatchIter(DataIter):
    """Base class of iterators whose `iter_next` stores a `DataBatch` in `current_batch`."""

    current_batch: Any = None

    def next(self) -> DataBatch:
        if not self.iter_next():
            raise StopIteration
        return self._require_current_batch()

    def getdata(self) -> Any:
        return self._require_current_batch().data

    def getlabel(self) -> Any:
        return self._require_current_batch().label

    def getindex(self) -> Any:
        return self._require_current_batch().index

    def getpad(self) -> Any:
        return self._require_current_batch().pad

    def _require_current_batch(self) -> DataBatch:
        if self.current_batch is None:
            raise MXNetError("there is no current batch; call iter_next() first", kind="no_batch")
        return self.current_batch  # type: ignore[no-any-return]


class NDArrayIter(DataIter):
    """``mx.io.NDArrayIter``: batches of rows of arrays; `shuffle` permutes the rows with ``numpy.random``."""

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
        if last_batch_handle not in LAST_BATCH:
            message, expected = "unknown last_batch_handle", ", ".join(LAST_BATCH)
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
        return self._describe_arrays(self.data)

    @property
    def provide_label(self) -> list[DataDesc]:
        return self._describe_arrays(self.label)

    def _describe_arrays(self, arrays: NamedArrays) -> list[DataDesc]:
        return [DataDesc(name, (self.batch_size, *one.shape[1:]), one.dtype.type) for name, one in arrays]

    def reset(self) -> None:
        """Start the next epoch. With "roll_over", begin with the rows left over from the previous epoch."""
        if self.shuffle:
            np.random.shuffle(self.idx)  # noqa: NPY002 (np.random.seed makes it reproducible)
            self._order = self._order[self.idx]
        self._rows = np.concatenate([self._leftover, self._order])
        self._num_carried, self._leftover = len(self._leftover), self._order[:0]
        self._start = -self.batch_size

    def hard_reset(self) -> None:
        """Start the next epoch, and drop the rows left over from the previous epoch."""
        self._leftover = self._order[:0]
        self.reset()

    @property
    def cursor(self) -> int:
        """Position of the first row of the current batch; negative if that row is from the previous epoch."""
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
        return self._select_batch_rows(self.data)

    def getlabel(self) -> Any:
        return self._select_batch_rows(self.label)

    def getpad(self) -> int:
        """Return the number of padding rows. With "roll_over", return the number of rows from the previous epoch."""
        if self.last_batch_handle == "roll_over" and self._start == 0:
            return self._num_carried
        return max(self._start + self.batch_size - len(self._rows), 0)

    def _select_batch_rows(self, arrays: NamedArrays) -> list[NDArray]:
        if not 0 <= self._start < len(self._rows):
            raise MXNetError("there is no current batch; call iter_next() first", kind="no_batch")
        positions = np.arange(self._start, self._start + self.batch_size)
        rows: Array[np.int64] = self._rows[positions % len(self._rows)]
        return [as_ndarray(np.asarray(one)[rows]) for _, one in arrays]


def _name_arrays(arrays: Any, name: str) -> NamedArrays:
    if arrays is None:
        return []
    if isinstance(arrays, np.ndarray):
        arrays = [arrays]
    if isinstance(arrays, list):
        names = [name] if len(arrays) == 1 else [f"_{number}_{name}" for number in range(len(arrays))]
        arrays = dict(zip(names, arrays, strict=True))
    if not isinstance(arrays, dict):
        message = "Input must be an NDArray or numpy.ndarray, or a list or dict of them"
        raise TypeError(f"{message}, got {type(arrays).__name__}")
    named = [(key, one if isinstance(one, NDArray) else array(one)) for key, one in arrays.items()]
    return sorted(named, key=lambda pair: pair[0]) if len(named) > 1 else named


def _common_length(arrays: NamedArrays) -> int:
    lengths = {name: len(values) for name, values in arrays}
    if len(set(lengths.values())) > 1:
        found = ", ".join(f"{name}: {length}" for name, length in lengths.items())
        raise ParameterError("arrays must have the same number of rows", kind="bad_shape", found=found)
    return next(iter(lengths.values()))


class PrefetchingIter(CurrentBatchIter):
    """``mx.io.PrefetchingIter``: join the batches of several iterators. A thread reads these batches in advance."""

    def __init__(self, iters: Any, rename_data: Any = None, rename_label: Any = None) -> None:
        self.iters = iters if isinstance(iters, list) else [iters]
        self.n_iter = len(self.iters)
        for names in (rename_data, rename_label):
            if not self.iters or (names is not None and len(names) != self.n_iter):
                raise MisuseError("iters must not be empty; rename_data and rename_label require one dict per iterator")
        self.rename_data, self.rename_label = rename_data, rename_label
        super().__init__(self.provide_data[0][1][0])
        self._prefetcher = self._start_prefetching()

    @property
    def provide_data(self) -> list[DataDesc]:
        return _rename_descriptions([one.provide_data for one in self.iters], self.rename_data)

    @property
    def provide_label(self) -> list[DataDesc]:
        return _rename_descriptions([one.provide_label for one in self.iters], self.rename_label)

    def _start_prefetching(self) -> Iterator[tuple[DataBatch, ...]]:
        return Prefetcher(itertools.zip_longest(*self.iters), 0, "recordmill-mxnet")

    def reset(self) -> None:
        self._stop_prefetching()
        for one in self.iters:
            one.reset()
        self.current_batch = None
        self._prefetcher = self._start_prefetching()

    def iter_next(self) -> bool:
        batches = next(self._prefetcher, None)
        if batches is None:
            return False
        if None in batches:
            raise MXNetError("Number of entry mismatches between iterators", kind="bad_shape")
        if len({batch.pad for batch in batches}) > 1:
            raise MXNetError("Different pad size in iterators", kind="bad_shape")
        data = [array for batch in batches for array in batch.data]
        label = [array for batch in batches for array in batch.label or []]
        described = {"provide_data": self.provide_data, "provide_label": self.provide_label}
        self.current_batch = DataBatch(data, label, batches[0].pad, batches[0].index, **described)
        return True

    def _stop_prefetching(self) -> None:
        prefetcher = self.__dict__.get("_prefetcher")
        if prefetcher is not None:
            prefetcher.close()

    def __del__(self) -> None:
        self._stop_prefetching()


def _rename_descriptions(
    described: Sequence[Sequence[Any]], names: Sequence[Mapping[str, str]] | None
) -> list[DataDesc]:
    if names is None:
        return [one for descriptions in described for one in descriptions]
    # User-defined iterators often describe arrays by (name, shape) tuples instead of `DataDesc`.
    return [
        DataDesc(change.get(one[0], one[0]), one[1], getattr(one, "dtype", np.float32), getattr(one, "layout", "NCHW"))
        for descriptions, change in zip(described, names, strict=True)
        for one in descriptions
    ]
