"""The parameters of ImageDetRecordIter, and what their values must be."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from recordmill.compat.mxnet.base import ParameterError, UnsupportedError
from recordmill.compat.mxnet.io.parameters import DEFAULTS, read_parameters
from recordmill.compat.mxnet.io.text import rounded_apart
from recordmill.compat.mxnet.kernels import BY_SIZE, RANDOM

_SHARED = (
    "path_imgrec path_imglist data_shape batch_size data_name label_name round_batch shuffle seed num_parts part_index "
    "preprocess_threads prefetch_buffer ctx device_id dtype verbose resize inter_method shuffle_chunk_size "
    "shuffle_chunk_seed mean_img mean_r mean_g mean_b mean_a scale"
)
# One value, or one for each kind of window.
_OF_SAMPLERS: dict[str, Any] = {
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
    "max_crop_trials": (25,),
}
_DEFAULTS: dict[str, Any] = {
    **{name: DEFAULTS[name] for name in _SHARED.split()},
    **{f"std_{colour}": 0.0 for colour in "rgba"},
    **_OF_SAMPLERS,
    "aug_seq": "det_aug_default",
    "rand_crop_prob": 0.0,
    "num_crop_sampler": 1,
    "crop_emit_mode": "center",
    "emit_overlap_thresh": 0.3,
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
    "label_width": -1,
    "label_pad_width": 0,
    "label_pad_value": -1.0,
}
ONLY_DEFAULT = {
    "aug_seq": "there is one way to augment: leave it out",
    "path_imglist": "pack the labels into the records: im2rec --pack-label",
    "shuffle_chunk_size": "shuffle=True permutes all records",
    "shuffle_chunk_seed": "shuffle=True permutes all records",
}
_WORDS = {"crop_emit_mode": ("center", "overlap"), "resize_mode": ("force", "shrink", "fit")}
_METHODS = (*range(5), BY_SIZE, RANDOM)
_LARGEST = 1 << 15
# name: smallest and largest value
_RANGES: dict[str, tuple[float, float]] = {
    "batch_size": (1, 2**31),
    "preprocess_threads": (1, 1024),
    "prefetch_buffer": (0, 1024),
    "num_parts": (1, 2**31),
    "rand_crop_prob": (-1, 1),
    "rand_pad_prob": (-1, 1),
    "rand_mirror_prob": (0, 1),
    "max_pad_scale": (0, 100),
    "num_crop_sampler": (0, 1000),
    "emit_overlap_thresh": (0, 1),
    "max_random_contrast": (-100, 100),
    "fill_value": (0, 255),
    "resize": (-1, _LARGEST),
    **{f"max_random_{name}": (-255, 255) for name in ("hue", "saturation", "illumination")},
}


def read_detection_parameters(given: Mapping[str, Any]) -> dict[str, Any]:
    """All parameters of ImageDetRecordIter with their values, of those that were given."""
    values = read_parameters(given, _DEFAULTS, ONLY_DEFAULT)
    channels, height, width = values["data_shape"]
    if channels not in (1, 3) or min(height, width) < 1:
        message = f"Invalid output shape [{channels},{height},{width}]"
        raise ParameterError(message, kind="bad_parameter", expected="1 or 3 channels")
    if values["dtype"] not in (None, "float32"):
        raise UnsupportedError("the parameter dtype is float32 here", kind="unsupported", found=values["dtype"])
    for name, (low, high) in _RANGES.items():
        if not low <= values[name] <= high or (name == "resize" and values[name] == 0):
            raise _out_of_range(name, values[name], f"{low:g} to {high:g}")
    for name, words in _WORDS.items():
        if values[name] not in words:
            raise _out_of_range(name, values[name], " or ".join(words))
    if values["inter_method"] not in _METHODS:
        raise _out_of_range("inter_method", values["inter_method"], "0 to 4, 9 or 10")
    if channels == 1 and changes_colours(values):
        raise UnsupportedError("hue, saturation and light of one channel are none", kind="unsupported", found="grey")
    _check_samplers(values)
    singles = [name for name, default in _DEFAULTS.items() if isinstance(default, float)]
    return values | {name: _as_float32(values[name]) for name in singles} | {"path_imgidx": ""}


def _as_float32(value: float) -> float:
    """Number as MXNet reads it from text; lists of numbers it reads in another way."""
    return float(rounded_apart(np.array([value]), np.zeros(1, np.int64))[0])


def changes_colours(values: Mapping[str, Any]) -> bool:
    """Whether hue, saturation or light may change."""
    names = ("hue", "saturation", "illumination")
    return any(values[f"random_{name}_prob"] > 0 and values[f"max_random_{name}"] for name in names)


def changes_pictures(values: Mapping[str, Any]) -> bool:
    """Whether anything is done to pictures beside bringing them to the size of the batch."""
    return (
        any(
            values[name] > 0 for name in ("rand_crop_prob", "rand_pad_prob", "rand_mirror_prob", "random_contrast_prob")
        )
        or changes_colours(values)
        or values["resize"] != -1
        or values["resize_mode"] != "force"
        or values["inter_method"] == RANDOM
    )


def _check_samplers(values: Mapping[str, Any]) -> None:
    count = values["num_crop_sampler"]
    for name in _OF_SAMPLERS:
        if count and len(values[name]) not in {1, count}:
            message, expected = f"{name}: # of parameters/crop_samplers mismatch", f"1 or {count} values"
            raise ParameterError(message, kind="bad_parameter", expected=expected, found=str(len(values[name])))
    for name in ("scales", "aspect_ratios", "overlaps", "sample_coverages", "object_coverages"):
        low, high = values[f"min_crop_{name}"], values[f"max_crop_{name}"]
        for one in range(max(len(low), len(high)) if count else 0):
            pair = low[one % len(low)], high[one % len(high)]
            if not 0 <= pair[0] <= pair[1] or (name == "scales" and not pair[0] < pair[1] <= 1):
                raise _out_of_range(f"min_crop_{name}, max_crop_{name}", pair, "a range from 0, of scales up to 1")
    if not all(0 <= one <= _LARGEST for one in values["max_crop_trials"]):
        raise _out_of_range("max_crop_trials", values["max_crop_trials"], f"0 to {_LARGEST}")


def _out_of_range(name: str, found: Any, expected: str) -> ParameterError:
    message = f"value {found} for Parameter {name} is out of range"
    return ParameterError(message, kind="bad_parameter", expected=expected, found=str(found))
