"""What iterators over rows in memory share: a place, and the batch that lies there."""

from __future__ import annotations

from typing import Any

from recordmill.compat.mxnet.base import MXNetError
from recordmill.compat.mxnet.io.batches import DataBatch, DataIter


class StoredIter(DataIter):
    """Batches, one array of data and one of labels each, that subclasses make by their number."""

    def __init__(self, batch_size: int, num_batches: int) -> None:
        super().__init__(batch_size)
        self._num_batches, self._place = num_batches, -1
        self._batch: DataBatch | None = None

    def _make(self, number: int) -> DataBatch:
        raise NotImplementedError(number)

    def reset(self) -> None:
        """Begin an epoch, at the first row."""
        self._place, self._batch = -1, None

    def iter_next(self) -> bool:
        """Move to the next batch; False at the end."""
        self._place = min(self._place + 1, self._num_batches)
        self._batch = self._make(self._place) if self._place < self._num_batches else None
        return self._batch is not None

    def next(self) -> DataBatch:
        """Return the next batch; StopIteration at the end of the epoch, until `reset`."""
        if not self.iter_next() or self._batch is None:
            raise StopIteration
        return self._batch

    def getdata(self) -> Any:
        """Data of the batch that `iter_next` moved to."""
        return self._moved_to().data[0]

    def getlabel(self) -> Any:
        """Labels of the batch that `iter_next` moved to."""
        return self._moved_to().label[0]

    def getindex(self) -> Any:
        """Numbers of the rows of the batch that `iter_next` moved to."""
        return self._moved_to().index

    def getpad(self) -> Any:
        """Rows that only fill up the batch that `iter_next` moved to."""
        return self._moved_to().pad

    def _moved_to(self) -> DataBatch:
        if self._batch is None:
            raise MXNetError("there is no batch: call iter_next first", kind="no_batch")
        return self._batch
