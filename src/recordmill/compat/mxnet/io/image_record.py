"""``mx.io.ImageRecordIter``: batches of images from RecordIO files."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

import recordmill as rm
from recordmill.compat.mxnet.base import MXNetError, ParameterError
from recordmill.compat.mxnet.io.ahead import Ahead
from recordmill.compat.mxnet.io.batches import DataBatch, DataDesc, DataIter
from recordmill.compat.mxnet.io.checks import check_values
from recordmill.compat.mxnet.io.mean_image import mean_image
from recordmill.compat.mxnet.io.order import EpochOrders, Order, Visit
from recordmill.compat.mxnet.io.parameters import DEFAULTS, read_parameters
from recordmill.compat.mxnet.io.pixels import PixelPlan
from recordmill.compat.mxnet.io.records import RecordTable, Samples
from recordmill.compat.mxnet.nd import wrap

Ints = NDArray[np.int64]


class ImageRecordIter(DataIter):
    """Batches of images and labels from RecordIO files, in MXNet's order and with MXNet's pixels.

    Every epoch begins with the first record of its order; the first batch is read when the first is taken. A batch
    that the records do not fill is completed with the first ones of the order that follows, or with zeros where
    ``round_batch=False``; `pad` counts these rows either way.
    """

    def __init__(self, *args: Any, **parameters: Any) -> None:
        if args:
            raise TypeError(f"{type(self).__name__} can only accept keyword arguments")
        values = self._read(parameters)
        super().__init__(values["batch_size"])
        self._values = values
        self._plan, self._table = self._open(values)
        if values["round_batch"] and 2 * len(self._table) < self.batch_size:
            message = "Check failed: !overflow: number of input images must be bigger than the batch size"
            found = f"{len(self._table)} images, batch_size {self.batch_size}"
            raise ParameterError(message, kind="bad_parameter", found=found, hint="round_batch=False")
        self._orders = EpochOrders(self._ranges(), values)
        self._order = self._next_order = self._orders.draw()
        self._epoch = -1
        self._batch: DataBatch | None = None
        self._ahead: Ahead[DataBatch] | None = None
        self.reset()

    def _read(self, parameters: dict[str, Any]) -> dict[str, Any]:
        values = read_parameters(parameters)
        check_values(values, DEFAULTS)
        return values

    def _open(self, values: dict[str, Any]) -> tuple[Any, RecordTable]:
        self._plan, self._table = PixelPlan(values), RecordTable(values)
        image = mean_image(values, self._table.ranges, self._data)
        return (self._plan if image is None else PixelPlan(values, image)), self._table

    def _ranges(self) -> list[list[tuple[int, int]]]:
        """What is shuffled: the chunks of every range, in rows of the table."""
        return self._table.ranges

    @property
    def provide_data(self) -> list[DataDesc]:
        """Name, shape and dtype of the data."""
        shape = (self.batch_size, *self._values["data_shape"])
        return [DataDesc(self._values["data_name"], shape, self._plan.dtype.type)]

    @property
    def provide_label(self) -> list[DataDesc]:
        """Name, shape and dtype of the labels."""
        width = self._table.label_width
        shape = (self.batch_size,) if width == 1 else (self.batch_size, width)
        return [DataDesc(self._values["label_name"], shape, np.float32)]

    def reset(self) -> None:
        """Begin the next epoch, at the first record of its order."""
        self._epoch += 1
        self._order, self._next_order = self._next_order, self._orders.draw()
        self._begin()

    def _begin(self) -> None:
        if self._ahead is not None:
            self._ahead.close()
        calls = self._calls(self._epoch, self._order, self._next_order)
        self._ahead = Ahead(calls, self._values["prefetch_buffer"])

    def iter_next(self) -> bool:
        """Move to the next batch; False at the end."""
        self._batch = None if self._ahead is None else self._ahead.take()
        return self._batch is not None

    def next(self) -> DataBatch:
        """Return the next batch."""
        if not self.iter_next() or self._batch is None:
            raise StopIteration
        return self._batch

    def getdata(self) -> Any:
        """Data of the batch that `iter_next` moved to."""
        return self._taken().data[0]

    def getlabel(self) -> Any:
        """Labels of the batch that `iter_next` moved to."""
        return self._taken().label[0]

    def getindex(self) -> Any:
        """Ids of the records of the batch that `iter_next` moved to."""
        return self._taken().index

    def getpad(self) -> Any:
        """Rows that only fill up the batch that `iter_next` moved to."""
        return self._taken().pad

    def _taken(self) -> DataBatch:
        if self._batch is None:
            raise MXNetError("there is no batch: call iter_next first", kind="no_batch")
        return self._batch

    def _calls(self, epoch: int, order: Order, following: Order) -> Iterator[Callable[[], DataBatch]]:
        for start in range(0, len(order.rows), self.batch_size):
            taken = slice(start, start + self.batch_size)
            rows, places = order.rows[taken], order.places[taken]
            count = len(rows)
            missing = self.batch_size - count
            if self._values["round_batch"] and missing:
                rows = np.concatenate([rows, following.rows[:missing]])
                places = np.concatenate([places, self._orders.borrowed(following, count, missing)])
            yield partial(self._make, Visit(rows, places, epoch, start), missing)

    def _data(self, visit: Visit, samples: Samples | None = None) -> NDArray[Any]:
        images = (samples or self._table.fetch(visit.rows)).images
        try:
            made: NDArray[Any] = self._plan.decode(images, visit)
        except rm.DecodeError as error:
            raise self._named(error, visit.rows) from error
        return made

    def _make(self, visit: Visit, pad: int) -> DataBatch:
        samples = self._table.fetch(visit.rows)
        data = self._data(visit, samples)
        labels, ids = samples.labels, samples.ids
        if self._table.label_width == 1:
            labels = labels[:, 0]
        data, labels, ids = (filled(one, self.batch_size) for one in (data, labels, ids))
        return DataBatch([wrap(data)], [wrap(labels)], pad, ids)

    def _named(self, error: rm.DecodeError, rows: Ints) -> MXNetError:
        cause = error.cause if isinstance(error.cause, rm.RecordmillError) else error
        message = f"Decoding failed. Invalid image file.: {cause.message}"
        parts: dict[str, Any] = {
            "kind": cause.kind,
            "expected": cause.expected,
            "found": cause.found,
            "hint": cause.hint,
        }
        return MXNetError(message, **parts, **self._table.place(int(rows[error.position or 0])))

    def __getstate__(self) -> dict[str, Any]:
        """State at the beginning of the epoch."""
        return self.__dict__ | {"_ahead": None, "_batch": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Begin the epoch again."""
        self.__dict__.update(state)
        self._begin()

    def __del__(self) -> None:
        """End the thread that reads ahead."""
        ahead = getattr(self, "_ahead", None)
        if ahead is not None:
            ahead.close()


def ImageRecordUInt8Iter(**parameters: Any) -> ImageRecordIter:
    """`ImageRecordIter` with levels as they are."""
    return ImageRecordIter(**{"dtype": "uint8"} | parameters)


def ImageRecordInt8Iter(**parameters: Any) -> ImageRecordIter:
    """`ImageRecordIter` with levels minus the means."""
    return ImageRecordIter(**{"dtype": "int8"} | parameters)


def filled(array: NDArray[Any], length: int) -> NDArray[Any]:
    """Rows, and zeros up to a length."""
    if len(array) == length:
        return array
    whole = np.zeros((length, *array.shape[1:]), array.dtype)
    whole[: len(array)] = array
    return whole
