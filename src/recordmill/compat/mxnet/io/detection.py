"""``mx.io.ImageDetRecordIter``: images with any number of labels, for detection."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

import recordmill as rm
from recordmill.compat.mxnet.base import MXNetError, ParameterError, translated
from recordmill.compat.mxnet.io.batches import DataBatch
from recordmill.compat.mxnet.io.det_boxes import refuse_no_boxes, split_label
from recordmill.compat.mxnet.io.det_parameters import changes_pictures, read_detection_parameters
from recordmill.compat.mxnet.io.det_pixels import decode_by_steps
from recordmill.compat.mxnet.io.det_plan import Steps, StepsPlan
from recordmill.compat.mxnet.io.image_record import ImageRecordIter, filled
from recordmill.compat.mxnet.io.lots import lots_of
from recordmill.compat.mxnet.io.mean_image import keep_mean
from recordmill.compat.mxnet.io.order import Visit
from recordmill.compat.mxnet.io.records import HEADER_BYTES, RecordTable, Samples
from recordmill.compat.mxnet.kernels import KERNELS
from recordmill.compat.mxnet.nd import wrap

Ints = NDArray[np.int64]
_BY_SIZE = "opencv:auto"
# Values of a row in front of an image's own labels: channels, height, width, number of labels.
_IN_FRONT = 4


class ImageDetRecordIter(ImageRecordIter):
    """Batches of whole images brought to one size, with all labels of each.

    A row of labels is the channels, height and width of the image's data, the number of its labels, the labels, and
    `label_pad_value` up to the width of the longest row; boxes without area are left out. Orders of `shuffle` are not
    MXNet's here. Colours, mirrors, frames and windows are those of MXNet for the numbers that are drawn; these depend
    on the seed, the epoch and the position alone.
    """

    def _read(self, parameters: dict[str, Any]) -> dict[str, Any]:
        return read_detection_parameters(parameters)

    def _open(self, values: dict[str, Any]) -> tuple[Any, RecordTable]:
        self._steps = StepsPlan(values) if changes_pictures(values) else None
        images, table = _WholeImages(values), _LabelRows(values)
        if values["mean_img"] and not any(values[f"mean_{colour}"] > 0 for colour in "rgba"):
            shape, size = tuple(values["data_shape"]), values["batch_size"]
            images.mean = keep_mean(values["mean_img"], shape, lambda: self._all_images(images, table, size))
        return images, table

    def _all_images(self, images: _WholeImages, table: RecordTable, size: int) -> Iterator[NDArray[np.float32]]:
        """Images of the part in their order, some at a time, without anything that is drawn."""
        self._table = table  # which errors ask for the place of a record
        for start in range(0, len(table), size):
            rows = np.arange(start, min(start + size, len(table)))
            try:
                yield images.decode(table.fetch(rows).images, Visit(rows, rows, 0, start))
            except rm.DecodeError as error:
                raise self._named(error, rows) from error

    def _ranges(self) -> list[list[tuple[int, int]]]:
        return [[(0, len(self._table))]]

    def _make(self, visit: Visit, pad: int) -> DataBatch:
        if self._steps is None:
            return super()._make(visit, pad)
        samples, values = self._table.fetch(visit.rows), self._values
        try:
            steps = self._draw(self._steps, samples, visit)
            fill, threads = values["fill_value"], values["preprocess_threads"]
            levels = decode_by_steps(samples.images, steps, values["data_shape"], fill, threads)
        except rm.DecodeError as error:
            raise self._named(error, visit.rows) from error
        data = self._plan.normalise(levels)
        data, labels, ids = (filled(one, self.batch_size) for one in (data, samples.labels, samples.ids))
        return DataBatch([wrap(data)], [wrap(labels)], pad, ids)

    def _draw(self, plan: StepsPlan, samples: Samples, visit: Visit) -> list[Steps]:
        """Steps of each picture; the rows of labels become what they make of these."""
        drawn, sizes = [], rm.image_sizes(samples.images, like="mxnet", orientation="apply").tolist()
        numbers = lots_of(visit, self._values["seed"]).numbers()
        for place, (row, (height, width)) in enumerate(zip(samples.labels, sizes, strict=True)):
            label = row[_IN_FRONT : _IN_FRONT + int(row[3])].copy()
            if (parts := split_label(label)) is None:
                raise refuse_no_boxes(label, self._table.place(int(visit.rows[place])))
            size = max(height, 1), max(width, 1)  # zeros are told when the picture is decoded
            with np.errstate(all="ignore"):  # of boxes that reach to infinity
                steps = plan.draw(size, parts[1], numbers[place])
            row[1:3], row[3:] = steps.size, self._values["label_pad_value"]
            _put_labels(row, np.concatenate([parts[0], steps.rows.ravel()]))
            drawn.append(steps)
        return drawn


def _put_labels(row: NDArray[np.float32], labels: NDArray[np.float32]) -> None:
    row[3] = len(labels)
    row[_IN_FRONT : _IN_FRONT + len(labels)] = labels


def _counted(ragged: rm.Ragged) -> Ints:
    """Labels that each record says it has; none where it is too short for a header, which is told when it is read."""
    whole = np.diff(ragged.row_splits) >= HEADER_BYTES
    counts = np.where(whole, 0, -HEADER_BYTES)
    starts = ragged.row_splits[:-1][whole]
    counts[whole] = ragged.data[starts[:, None] + np.arange(4)].view("<u4")[:, 0]
    return counts


def _refuse_short(reader: rm.ShardReader, first: int, counts: Ints, sizes: Ints) -> None:
    for row in np.flatnonzero(HEADER_BYTES + 4 * counts > sizes)[:1]:
        record, message = first + int(row), "an image record holds fewer labels than it says"
        offset, found = int(reader.index.offsets[record]), f"{counts[row]} labels"
        raise MXNetError(message, kind="bad_payload", found=found, shard=reader.path, record=record, offset=offset)


class _WholeImages:
    """Images brought to the size of the batch, whatever their shape; values are ``(level - mean) / std * scale``."""

    dtype = np.dtype(np.float32)

    def __init__(self, values: Mapping[str, Any]) -> None:
        channels, *size = values["data_shape"]
        words: Any = {1: "grey", 3: "rgb"}
        resize, kernel = rm.Resize(tuple(size)), (*KERNELS, *[_BY_SIZE] * 6)[values["inter_method"]]
        self._spec = rm.Image(like="mxnet", channels=words[channels], resize=resize, kernel=kernel, dtype="uint8")
        self._threads = values["preprocess_threads"]
        colours = "rgba"[:channels]
        self.mean, self._std = (
            np.array([values[f"{name}_{colour}"] for colour in colours], np.float32)[:, None, None]
            for name in ("mean", "std")
        )
        self._std[self._std <= 0] = 1
        self._scale = np.float32(values["scale"])

    def decode(self, images: Sequence[Any], visit: Visit) -> NDArray[np.float32]:
        del visit
        return self.normalise(rm.decode_batch(list(images), {"data": self._spec}, threads=self._threads)["data"])

    def normalise(self, decoded: NDArray[np.uint8]) -> NDArray[np.float32]:
        numbers: NDArray[np.float32] = decoded.astype(np.float32)
        numbers -= self.mean
        numbers /= self._std
        numbers *= self._scale
        return numbers


class _LabelRows(RecordTable):
    """Records whose labels become rows of one width."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        super().__init__({**values, "path_imglist": ""})
        self._shape = np.array(values["data_shape"], np.float32)
        self._wanted, self._fill = values["label_width"], np.float32(values["label_pad_value"])
        longest, width = self._longest(), values["label_pad_width"]
        if 0 < width < longest:
            message = f"label_pad_width: {width} smaller than estimated width: {longest}"
            raise ParameterError(message, kind="bad_parameter", expected=f"at least {longest}", found=str(width))
        self.label_width = _IN_FRONT + max(longest, width)

    def _longest(self) -> int:
        """Labels of the record of this part that has most; of all records, whether they are whole."""
        longest, start, stop = 1, int(self.positions[0]), int(self.positions[-1]) + 1
        with translated():
            for reader, offset in zip(self.readers, self.firsts.tolist(), strict=False):
                first = 0
                for ragged in reader.batches(1024):
                    counts = _counted(ragged)
                    _refuse_short(reader, first, counts, np.diff(ragged.row_splits))
                    ours = slice(max(start - offset - first, 0), max(stop - offset - first, 0))
                    longest = max(longest, int(counts[ours].max(initial=0)))
                    first += len(counts)
        return longest

    def _labels(self, rows: Ints, heads: Any, data: NDArray[np.uint8], splits: Ints) -> NDArray[np.float32]:
        made = np.full((len(rows), self.label_width), self._fill, np.float32)
        made[:, :3] = self._shape
        for row, flag in enumerate(heads["flag"].tolist()):
            if self._wanted not in (-1, flag):
                message = f"rec file provide {flag}-dimensional label but label_width is set to {self._wanted}"
                raise ParameterError(message, kind="bad_label", **self.place(int(rows[row])))
            start = int(splits[row])
            labels = data[start + 24 : start + 24 + 4 * flag] if flag else data[start + 4 : start + 8]
            values = labels.view("<f4").astype(np.float32)
            parts = split_label(values)
            _put_labels(made[row], values if parts is None else np.concatenate([parts[0], parts[1].ravel()]))
        return made
