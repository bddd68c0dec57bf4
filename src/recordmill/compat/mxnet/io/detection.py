"""``mx.io.ImageDetRecordIter``: images with any number of labels, for detection."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

import recordmill as rm
from recordmill.compat.mxnet.base import MXNetError, ParameterError, UnsupportedError, translated
from recordmill.compat.mxnet.image.boxes import mirrored
from recordmill.compat.mxnet.io.batches import DataBatch
from recordmill.compat.mxnet.io.image_record import ImageRecordIter
from recordmill.compat.mxnet.io.order import Visit
from recordmill.compat.mxnet.io.parameters import DEFAULTS, read_parameters
from recordmill.compat.mxnet.io.records import HEADER_BYTES, RecordTable
from recordmill.compat.mxnet.kernels import BY_SIZE, KERNELS

Ints = NDArray[np.int64]
_BY_SIZE = "opencv:auto"
# Values of a row in front of an image's own labels: channels, height, width, number of labels.
_IN_FRONT = 4
_SHARED = (
    "path_imgrec path_imglist data_shape batch_size data_name label_name round_batch shuffle seed num_parts part_index "
    "preprocess_threads prefetch_buffer ctx device_id dtype verbose resize inter_method shuffle_chunk_size "
    "shuffle_chunk_seed mean_img mean_r mean_g mean_b mean_a scale"
)
_RANDOM: dict[str, Any] = {
    "aug_seq": "det_aug_default",
    "rand_crop_prob": 0.0,
    "min_crop_scales": (0.0,),
    "max_crop_scales": (1.0,),
    "min_crop_aspect_ratios": (1.0,),
    "max_crop_aspect_ratios": (1.0,),
    "min_crop_overlaps": (0.0,),
    "max_crop_overlaps": (1.0,),
    "min_crop_sample_coverages": (0.0,),
    "max_crop_sample_coverages": (1.0,),
    "min_crop_object_coverages": (0.0,),
    "max_crop_object_coverages": (1.0,),
    "num_crop_sampler": 1,
    "crop_emit_mode": "center",
    "emit_overlap_thresh": 0.3,
    "max_crop_trials": (25,),
    "rand_pad_prob": 0.0,
    "max_pad_scale": 1.0,
    "max_random_hue": 0,
    "random_hue_prob": 0.0,
    "max_random_saturation": 0,
    "random_saturation_prob": 0.0,
    "max_random_illumination": 0,
    "random_illumination_prob": 0.0,
    "max_random_contrast": 0.0,
    "random_contrast_prob": 0.0,
    "rand_mirror_prob": 0.0,
    "fill_value": 127,
    "resize_mode": "force",
}
_HINT = "move images and boxes together with rm.Image and rm.Boxes"
_DEFAULTS: dict[str, Any] = {
    **{name: DEFAULTS[name] for name in _SHARED.split()},
    **{f"std_{colour}": 0.0 for colour in "rgba"},
    **_RANDOM,
    "label_width": -1,
    "label_pad_width": 0,
    "label_pad_value": -1.0,
}
_ONLY_DEFAULT = dict.fromkeys((name for name in (*_RANDOM, "resize") if name != "rand_mirror_prob"), _HINT) | {
    "path_imglist": "pack the labels into the records: im2rec --pack-label",
    "mean_img": "give mean_r, mean_g and mean_b",
    "shuffle_chunk_size": "shuffle=True permutes all records",
    "shuffle_chunk_seed": "shuffle=True permutes all records",
}


class ImageDetRecordIter(ImageRecordIter):
    """Batches of whole images brought to one size, with all labels of each.

    A row of labels is the channels, height and width of the image's data, the number of its labels, the labels, and
    `label_pad_value` up to the width of the longest row. Orders of `shuffle` are not MXNet's here. `rand_mirror_prob`
    mirrors pictures and boxes, by draws of the seed, epoch and position.

    Parameters
    ----------
    **parameters
        Those of MXNet 1.9.1 by name; what changes images at random, or keeps their shape, is refused.

    Raises
    ------
    ParameterError, UnsupportedError, MXNetError
        As `ImageRecordIter`.
    """

    def _read(self, parameters: dict[str, Any]) -> dict[str, Any]:
        values = read_parameters(parameters, _DEFAULTS, _ONLY_DEFAULT)
        channels, height, width = values["data_shape"]
        if channels not in (1, 3) or min(height, width, values["batch_size"]) < 1:
            message = f"Invalid output shape [{channels},{height},{width}]"
            raise ParameterError(message, kind="bad_parameter", expected="1 or 3 channels")
        if values["dtype"] not in (None, "float32"):
            raise UnsupportedError("the parameter dtype is float32 here", kind="unsupported", found=values["dtype"])
        if values["inter_method"] not in (*range(5), BY_SIZE):
            message = f"inter_method={values['inter_method']} is not supported"
            raise UnsupportedError(message, kind="unsupported", expected="0 to 4, or 9")
        if not 0 <= values["rand_mirror_prob"] <= 1:
            message = f"value {values['rand_mirror_prob']} for Parameter rand_mirror_prob is out of range"
            raise ParameterError(message, kind="bad_parameter", expected="0 to 1")
        return values | {"path_imgidx": ""}

    def _open(self, values: dict[str, Any]) -> tuple[Any, RecordTable]:
        return _WholeImages(values), _LabelRows(values)

    def _ranges(self) -> list[list[tuple[int, int]]]:
        return [[(0, len(self._table))]]

    def _make(self, visit: Visit, pad: int) -> DataBatch:
        batch = super()._make(visit, pad)
        share = self._values["rand_mirror_prob"]
        if share > 0:
            draws = rm.Draws(self._values["seed"] % 2**64, visit.epoch)
            chosen = np.flatnonzero(draws.booleans(visit.positions, rm.Stage.FLIP, share))
            data, labels = np.asarray(batch.data[0]), np.asarray(batch.label[0])
            data[chosen] = data[chosen, :, :, ::-1]
            for row in chosen.tolist():
                mirrored(self._boxes(labels[row, _IN_FRONT : _IN_FRONT + int(labels[row, 3])], int(visit.rows[row])))
        return batch

    def _boxes(self, labels: NDArray[np.float32], row: int) -> NDArray[np.float32]:
        """Boxes of one image: its labels begin with the width of their header, and of a box."""
        header, width = labels[:2].tolist() if len(labels) > 1 else (0, 0)
        if not (2 <= header <= len(labels) and width >= 5) or (len(labels) - header) % width:
            message, expected = "labels that are no boxes cannot be mirrored", "a header of 2, boxes of 5, or more"
            found = f"{len(labels)} labels, widths {header:g} and {width:g}"
            raise ParameterError(message, kind="bad_label", expected=expected, found=found, **self._table.place(row))
        return labels[int(header) :].reshape(-1, int(width))


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
        resize, kernel = rm.Resize(tuple(size)), (*KERNELS, *[_BY_SIZE] * 5)[values["inter_method"]]
        self._spec = rm.Image(like="mxnet", channels=words[channels], resize=resize, kernel=kernel, dtype="uint8")
        self._threads = values["preprocess_threads"]
        colours = "rgba"[:channels]
        self._mean, self._std = (
            np.array([values[f"{name}_{colour}"] for colour in colours], np.float32)[:, None, None]
            for name in ("mean", "std")
        )
        self._std[self._std <= 0] = 1
        self._scale = np.float32(values["scale"])

    def decode(self, images: Sequence[Any], visit: Visit) -> NDArray[np.float32]:
        del visit
        decoded = rm.decode_batch(list(images), {"data": self._spec}, threads=self._threads)["data"]
        numbers: NDArray[np.float32] = decoded.astype(np.float32)
        numbers -= self._mean
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
            values = labels.view("<f4")
            made[row, 3] = len(values)
            made[row, _IN_FRONT : _IN_FRONT + len(values)] = values
        return made
