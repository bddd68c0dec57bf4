"""Iterators around iterators: another number of batches in an epoch, and batches of several read ahead as one."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Mapping, Sequence
from typing import Any

from recordmill.compat.mxnet.base import MisuseError, MXNetError
from recordmill.compat.mxnet.io.ahead import Ahead
from recordmill.compat.mxnet.io.batches import DataBatch, DataDesc, DataIter


class _Holding(DataIter):
    """An iterator that holds the batch it moved to."""

    current_batch: Any = None

    def next(self) -> DataBatch:
        """Return the next batch; StopIteration at the end."""
        if not self.iter_next():
            raise StopIteration
        return self.current_batch  # type: ignore[no-any-return]

    def _held(self) -> DataBatch:
        if self.current_batch is None:
            raise MXNetError("there is no batch: call iter_next first", kind="no_batch")
        return self.current_batch  # type: ignore[no-any-return]

    def getdata(self) -> Any:
        """Arrays of data of the batch."""
        return self._held().data

    def getlabel(self) -> Any:
        """Arrays of labels of the batch."""
        return self._held().label

    def getindex(self) -> Any:
        """Ids of the samples of the batch."""
        return self._held().index

    def getpad(self) -> Any:
        """Rows that only fill the batch up."""
        return self._held().pad


class ResizeIter(_Holding):
    """Epochs of so many batches, whatever number an iterator has."""

    def __init__(self, data_iter: Any, size: int, reset_internal: bool = True) -> None:
        super().__init__(data_iter.batch_size)
        self.data_iter, self.size, self.reset_internal = data_iter, size, reset_internal
        self.cur = 0
        self.provide_data, self.provide_label = data_iter.provide_data, data_iter.provide_label

    def reset(self) -> None:
        """Begin an epoch."""
        self.cur = 0
        if self.reset_internal:
            self.data_iter.reset()

    def iter_next(self) -> bool:
        """Move to the next batch; False at the end."""
        if self.cur == self.size:
            return False
        try:
            self.current_batch = self.data_iter.next()
        except StopIteration:
            self.data_iter.reset()
            self.current_batch = self.data_iter.next()
        self.cur += 1
        return True


class _Epoch:
    """One epoch of several iterators, for the thread: it does not know who consumes it."""

    def __init__(self, iters: Sequence[Any]) -> None:
        self._iters, self._is_over, self._lock = iters, False, threading.Lock()

    def take(self) -> list[DataBatch]:
        """Next batch of each iterator; none at the end."""
        with self._lock:
            batches = [] if self._is_over else [next(iter(one), None) for one in self._iters]
            self._is_over = self._is_over or None in batches
        found = [batch for batch in batches if batch is not None]
        if 0 < len(found) < len(batches):
            raise MXNetError("Number of entry mismatches between iterators", kind="bad_shape")
        return found

    def end(self) -> None:
        """Take no more, and wait until nothing is being taken."""
        with self._lock:
            self._is_over = True


class PrefetchingIter(_Holding):
    """Batches of several iterators as one, the next of which is made in a thread."""

    def __init__(self, iters: Any, rename_data: Any = None, rename_label: Any = None) -> None:
        self.iters = iters if isinstance(iters, list) else [iters]
        self.n_iter = len(self.iters)
        for names in (rename_data, rename_label):
            if not self.iters or (names is not None and len(names) != self.n_iter):
                raise MisuseError("one iterator at least, and a dict for each", kind="bad_parameter")
        self.rename_data, self.rename_label = rename_data, rename_label
        super().__init__(self.provide_data[0][1][0])
        self._begin()

    @property
    def provide_data(self) -> list[DataDesc]:
        """Names, shapes and dtypes of the data of all."""
        return _renamed([one.provide_data for one in self.iters], self.rename_data)

    @property
    def provide_label(self) -> list[DataDesc]:
        """Names, shapes and dtypes of the labels of all."""
        return _renamed([one.provide_label for one in self.iters], self.rename_label)

    def _begin(self) -> None:
        self._epoch = _Epoch(self.iters)
        self._ahead = Ahead[list[DataBatch]](itertools.repeat(self._epoch.take), 1)

    def reset(self) -> None:
        """Begin an epoch of all iterators."""
        self._ahead.close()
        self._epoch.end()
        for one in self.iters:
            one.reset()
        self.current_batch = None
        self._begin()

    def iter_next(self) -> bool:
        """Move to the next batch; False at the end."""
        batches = self._ahead.take()
        if not batches:
            return False
        if len({batch.pad for batch in batches}) > 1:
            raise MXNetError("Different pad size in iterators", kind="bad_shape")
        data = [array for batch in batches for array in batch.data]
        label = [array for batch in batches for array in batch.label or []]
        first = batches[0]
        self.current_batch = DataBatch(
            data, label, first.pad, first.index, provide_data=self.provide_data, provide_label=self.provide_label
        )
        return True

    def __del__(self) -> None:
        """End the thread."""
        ahead = getattr(self, "_ahead", None)
        if ahead is not None:
            ahead.close()


def _renamed(described: Sequence[Sequence[Any]], names: Sequence[Mapping[str, str]] | None) -> list[DataDesc]:
    if names is None:  # as they are, for programs that look at them
        return [one for descriptions in described for one in descriptions]
    return [
        DataDesc(change.get(one.name, one.name), one.shape, one.dtype, one.layout)
        for descriptions, change in zip(described, names, strict=True)
        for one in map(_described, descriptions)
    ]


def _described(pair: Any) -> DataDesc:
    """Description of an array, for which iterators of programs' own often give a pair of name and shape."""
    return pair if isinstance(pair, DataDesc) else DataDesc(*pair)
