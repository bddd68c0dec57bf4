"""The parameters of ImageDetRecordIter."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from recordmill.compat.mxnet.base import ParameterError
from recordmill.compat.mxnet.interpolation import METHODS, RANDOM
from recordmill.compat.mxnet.io.parameters import (
    DEFAULTS,
    MAX_INT,
    MAX_SIDE,
    check_ranges,
    check_shape,
    parse_parameters,
    range_error,
    unsupported_error,
)

_SHARED = (
    "path_imgrec path_imglist data_shape batch_size data_name label_name round_batch shuffle seed num_parts part_index "
    "preprocess_threads prefetch_buffer ctx device_id dtype verbose resize inter_method shuffle_chunk_size "
    "shuffle_chunk_seed mean_img mean_r mean_g mean_b mean_a scale"
)
_COVERAGES = ("overlaps", "sample_coverages", "object_coverages")
# One value for all crop samplers, or one for each.
_SAMPLER_DEFAULTS: dict[str, Any] = {
    "min_crop_scales": (0.0,),
    "max_crop_scales": (1.0,),
    "min_crop_aspect_ratios": (1.0,),
    "max_crop_aspect_ratios": (1.0,),
    **dict.fromkeys((f"min_crop_{name}" for name in _COVERAGES), (0.0,)),
    **dict.fromkeys((f"max_crop_{name}" for name in _COVERAGES), (1.0,)),
    "max_crop_trials": (25,),
}
_DEFAULTS: dict[str, Any] = {
    **{name: DEFAULTS[name] for name in _SHARED.split()},
    **{f"std_{color}": 0.0 for color in "rgba"},
    **_SAMPLER_DEFAULTS,
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
_UNSUPPORTED = {
    "aug_seq": "omit it: there is one sequence of augmentations",
    "mean_img": "use mean_r, mean_g and mean_b",
    "path_imglist": "pack the labels into the records: im2rec --pack-label",
    "shuffle_chunk_size": "shuffle=True permutes all records",
    "shuffle_chunk_seed": "shuffle=True permutes all records",
}
_CHOICES = {"crop_emit_mode": ("center", "overlap"), "resize_mode": ("force", "shrink", "fit")}
_RANGES: dict[str, tuple[float, float]] = {
    "batch_size": (1, MAX_INT),
    "preprocess_threads": (1, 1024),
    "prefetch_buffer": (0, 1024),
    "num_parts": (1, MAX_INT),
    "rand_crop_prob": (-1, 1),
    "rand_pad_prob": (-1, 1),
    "rand_mirror_prob": (0, 1),
    "max_pad_scale": (0, 100),
    "num_crop_sampler": (0, 1000),
    "emit_overlap_thresh": (0, 1),
    "max_random_contrast": (-100, 100),
    "fill_value": (0, 255),
    "resize": (-1, MAX_SIDE),
    **{f"max_random_{name}": (-255, 255) for name in ("hue", "saturation", "illumination")},
}
_PROBABILITIES = ("rand_crop_prob", "rand_pad_prob", "rand_mirror_prob", "random_contrast_prob")


def read_detection_parameters(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of all parameters of ImageDetRecordIter."""
    values = parse_parameters(given, _DEFAULTS)
    for name, hint in _UNSUPPORTED.items():
        if values[name] != _DEFAULTS[name]:
            raise unsupported_error(name, values[name], hint)
    if values["dtype"] not in (None, "float32"):
        raise unsupported_error("dtype", values["dtype"], "batches are float32")
    check_shape(values["data_shape"], (1, 3))
    check_ranges(values, _RANGES)
    for name, words in _CHOICES.items():
        if values[name] not in words:
            raise range_error(name, values[name], " or ".join(words))
    if values["inter_method"] not in METHODS:
        raise range_error("inter_method", values["inter_method"], "0 to 4, 9 or 10")
    if values["data_shape"][0] == 1 and _changes_colors(values):
        raise unsupported_error("random_hue_prob", values["random_hue_prob"], "data_shape has one channel")
    _check_samplers(values)
    floats = [name for name, default in _DEFAULTS.items() if isinstance(default, float)]
    return values | {name: _round_as_text(values[name]) for name in floats}


def is_augmented(values: Mapping[str, Any]) -> bool:
    """Return whether more is done to images than resizing them to the shape of the batch."""
    return (
        any(values[name] > 0 for name in _PROBABILITIES)
        or _changes_colors(values)
        or values["resize"] != -1
        or values["resize_mode"] != "force"
        or values["inter_method"] == RANDOM
    )


def _changes_colors(values: Mapping[str, Any]) -> bool:
    names = ("hue", "saturation", "illumination")
    return any(values[f"random_{name}_prob"] > 0 and values[f"max_random_{name}"] for name in names)


def _round_as_text(value: float) -> float:
    """Round to float32 as MXNet parses text: the integer part and the fraction apart, and then their sum."""
    integer = np.trunc(value)
    return float(np.float32(integer) + np.float32(value - integer))


def _check_samplers(values: Mapping[str, Any]) -> None:
    count = values["num_crop_sampler"]
    for name in _SAMPLER_DEFAULTS:
        if count and len(values[name]) not in {1, count}:
            message, expected = f"{name}: # of parameters/crop_samplers mismatch", f"1 or {count} values"
            raise ParameterError(message, expected=expected, found=str(len(values[name])))
    for name in ("scales", "aspect_ratios", *_COVERAGES):
        lows, highs = values[f"min_crop_{name}"], values[f"max_crop_{name}"]
        for number in range(max(len(lows), len(highs)) if count else 0):
            low, high = lows[number % len(lows)], highs[number % len(highs)]
            if not 0 <= low <= high or (name == "scales" and not low < high <= 1):
                raise range_error(f"min_crop_{name}, max_crop_{name}", (low, high), "a range from 0, scales up to 1")
    if not all(0 <= trials <= MAX_SIDE for trials in values["max_crop_trials"]):
        raise range_error("max_crop_trials", values["max_crop_trials"], f"0 to {MAX_SIDE}")
