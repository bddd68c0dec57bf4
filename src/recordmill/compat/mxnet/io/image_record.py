"""``mx.io.ImageRecordIter``: batches of images from RecordIO files."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from numpy.typing import NDArray

import recordmill as rm
from recordmill.compat.mxnet.base import MXNetError, ParameterError
from recordmill.compat.mxnet.io.decoding import BatchDecoder
from recordmill.compat.mxnet.io.iterators import CurrentBatchIter, DataBatch, DataDesc
from recordmill.compat.mxnet.io.mean_image import load_mean_image
from recordmill.compat.mxnet.io.order import BatchRows, EpochOrderSampler, Span, iter_batches_in_file_order
from recordmill.compat.mxnet.io.parameters import read_parameters
from recordmill.compat.mxnet.io.records import RecordTable, Samples
from recordmill.compat.mxnet.nd import as_ndarray
from recordmill.concurrency.prefetch import Prefetcher

_THREAD_NAME = "recordmill-mxnet"


class BatchBuilder:
    """Reads and decodes batches. It holds no reference to the iterator, so threads do not keep the iterator alive."""

    def __init__(self, values: dict[str, Any]) -> None:
        self.values = values
        self.table = self._create_table()
        self.decoder: Any = self._create_decoder()

    def _create_table(self) -> RecordTable:
        return RecordTable(self.values)

    def _create_decoder(self) -> Any:
        values, self.decoder = self.values, BatchDecoder(self.values)
        if not values["mean_img"] or values["dtype"] == "uint8":
            return self.decoder
        parts = iter_batches_in_file_order(
            self.chunks_by_range(), values["batch_size"], is_indexed=bool(values["path_imgidx"])
        )
        mean = load_mean_image(values["mean_img"], values["data_shape"], lambda: map(self._read_and_decode, parts))
        return BatchDecoder(values, mean)

    def chunks_by_range(self) -> list[list[Span]]:
        """Return one list of chunks per byte range. A chunk is a range (start, stop) of table rows.

        Shuffling moves rows only within their chunk.
        """
        return self.table.ranges

    def build(self, records: BatchRows) -> DataBatch:
        """Read, decode and assemble one batch."""
        samples = self.table.read_samples(records.rows)
        data, labels = self._decode_samples(samples, records), samples.labels
        if labels.shape[1] == 1:
            labels = labels[:, 0]
        size = self.values["batch_size"]
        data, labels, ids = (_pad_rows(one, size) for one in (data, labels, samples.ids))
        return DataBatch([as_ndarray(data)], [as_ndarray(labels)], records.pad, ids)

    def _decode_samples(self, samples: Samples, records: BatchRows) -> NDArray[Any]:
        try:
            decoded: NDArray[Any] = self.decoder.decode(samples.images, records)
        except rm.DecodeError as error:
            raise self._to_mxnet_error(error, records) from error
        return decoded

    def _read_and_decode(self, records: BatchRows) -> NDArray[Any]:
        return self._decode_samples(self.table.read_samples(records.rows), records)

    def _to_mxnet_error(self, error: rm.DecodeError, records: BatchRows) -> MXNetError:
        cause: Any = error.cause if isinstance(error.cause, rm.RecordmillError) else error
        parts = {name: getattr(cause, name) for name in ("kind", "expected", "found", "hint")}
        location = self.table.locate_row(int(records.rows[error.position or 0]))
        return MXNetError(f"Decoding failed. Invalid image file.: {cause.message}", **parts, **location)


class ImageRecordIter(CurrentBatchIter):
    """``mx.io.ImageRecordIter``: batches of images and labels from RecordIO files, in MXNet's order.

    Pixels equal MXNet's. An incomplete last batch is filled with the first records of the next epoch, or with zeros if
    ``round_batch=False``; `pad` is the number of filled rows. The next epoch still starts with these records.
    """

    _read_parameters = staticmethod(read_parameters)
    _builder_type: type[BatchBuilder] = BatchBuilder

    def __init__(self, *args: Any, **parameters: Any) -> None:
        if args:
            raise TypeError(f"{type(self).__name__} can only accept keyword arguments")
        self._values = self._read_parameters(parameters)
        super().__init__(self._values["batch_size"])
        self._builder = self._builder_type(self._values)
        count = len(self._builder.table)
        if self._values["round_batch"] and 2 * count < self.batch_size:
            message, found = "batch_size must be at most twice the number of images", f"{count} images"
            raise ParameterError(message, found=found, hint="reduce batch_size, or use round_batch=False")
        self._orders = EpochOrderSampler(self._builder.chunks_by_range(), self._values)
        self._next_order = self._orders.draw_next_order()
        self._epoch = -1
        self._prefetcher: Any = None
        self.reset()

    @property
    def provide_data(self) -> list[DataDesc]:
        shape = (self.batch_size, *self._values["data_shape"])
        return [DataDesc(self._values["data_name"], shape, self._builder.decoder.dtype.type)]

    @property
    def provide_label(self) -> list[DataDesc]:
        width = self._builder.table.label_width
        shape = (self.batch_size,) if width == 1 else (self.batch_size, width)
        return [DataDesc(self._values["label_name"], shape, np.float32)]

    def reset(self) -> None:
        """Start the next epoch."""
        self._stop_reading()
        self._epoch += 1
        self._order, self._next_order = self._next_order, self._orders.draw_next_order()
        self._num_taken = 0

    def iter_next(self) -> bool:
        if self._prefetcher is None or self._process != os.getpid():
            self._start_reading()
        self._num_taken += 1
        self.current_batch = next(self._prefetcher, None)
        return self.current_batch is not None

    def getdata(self) -> Any:
        return super().getdata()[0]

    def getlabel(self) -> Any:
        return super().getlabel()[0]

    def _start_reading(self) -> None:
        """Start a thread that reads the remaining batches of the epoch. A forked process starts its own thread."""
        rows = self._orders.split_into_batches(self._epoch, self._order, self._next_order, self._num_taken)
        # After an error in `build`, the built-in `map` can still return the next batches. A generator would end.
        batches = map(self._builder.build, rows)
        depth = self._values["prefetch_buffer"]
        self._prefetcher = Prefetcher(batches, depth - 1, _THREAD_NAME) if depth else batches
        self._process = os.getpid()

    def _stop_reading(self) -> None:
        if isinstance(self.__dict__.get("_prefetcher"), Prefetcher):
            self._prefetcher.close()
        self._prefetcher = self.current_batch = None

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_prefetcher": None, "current_batch": None, "_num_taken": 0}

    def __del__(self) -> None:
        self._stop_reading()


def _pad_rows(array: NDArray[Any], length: int) -> NDArray[Any]:
    """Append rows of zeros to an array until it has `length` rows."""
    if len(array) == length:
        return array
    filled = np.zeros((length, *array.shape[1:]), array.dtype)
    filled[: len(array)] = array
    return filled
