"""The parameters of ImageRecordIter and ImageDetRecordIter: names, defaults, types, ranges and combinations."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from recordmill.compat.mxnet.base import MXNetError, ParameterError, UnsupportedError
from recordmill.compat.mxnet.interpolation import METHODS, NEAREST, RANDOM
from recordmill.suggestions import suggest_name

_MAX_INT = 2**31 - 1
_MAX_SIDE = 1 << 15


def _map_names_to_values(rows: list[tuple[Any, str]]) -> dict[str, Any]:
    """Convert pairs (value, names) to a dict from name to value. The names of a pair are separated by spaces."""
    return {name: value for value, names in rows for name in names.split()}


# Defaults of MXNet 1.9.1's ImageRecordIter; None means that the parameter is not set.
_DEFAULTS: dict[str, Any] = _map_names_to_values(
    [
        (None, "data_shape batch_size seed_aug dtype min_aspect_ratio"),
        ("", "path_imgrec path_imgidx path_imglist mean_img"),
        ("data", "data_name"),
        ("softmax_label", "label_name"),
        ("gpu", "ctx"),
        ("aug_default", "aug_seq"),
        (False, "shuffle rand_crop random_resized_crop mirror rand_mirror"),
        (True, "round_batch verbose"),
        (-1, "resize rotate max_crop_size min_crop_size"),
        (0, "seed shuffle_chunk_size shuffle_chunk_seed part_index device_id max_rotate_angle pad"),
        (0, "random_h random_s random_l"),
        (1, "label_width num_parts inter_method"),
        (4, "preprocess_threads prefetch_buffer"),
        (255, "fill_value"),
        (0.0, "max_aspect_ratio max_shear_ratio min_img_size brightness contrast saturation pca_noise"),
        (0.0, "mean_r mean_g mean_b mean_a max_random_contrast max_random_illumination"),
        (1.0, "max_random_scale min_random_scale max_random_area min_random_area std_r std_g std_b std_a scale"),
        (1e10, "max_img_size"),
    ]
)
# Smallest and largest allowed values of numeric parameters.
_RANGES: dict[str, tuple[float, float]] = _map_names_to_values(
    [
        ((1, _MAX_INT), "batch_size num_parts"),
        ((1, 2**20), "label_width"),
        ((1, 1024), "preprocess_threads"),
        ((0, 1024), "prefetch_buffer"),
        ((0, _MAX_INT), "shuffle_chunk_size max_rotate_angle"),
        ((-1, _MAX_SIDE), "resize max_crop_size min_crop_size"),
        ((0, _MAX_SIDE), "pad min_img_size"),
        ((1, 1e10), "max_img_size"),
        ((1e-9, 1), "min_random_area max_random_area"),
        ((1e-6, 1000), "min_random_scale max_random_scale"),
        ((0, 1000), "max_shear_ratio"),
        ((0, 100), "brightness contrast saturation pca_noise max_random_contrast"),
        ((0, 255), "fill_value random_h random_s random_l"),
        ((0, 1e6), "max_random_illumination"),
    ]
)
_NONZERO = ("resize", "max_crop_size", "min_crop_size")
_REQUIRED = ("data_shape", "batch_size")
_OPTIONAL = ("seed_aug", "dtype", "min_aspect_ratio")
_DTYPES = (None, "float32", "uint8", "int8")
_AFFINE = ("max_shear_ratio", "max_random_scale", "min_random_scale", "max_img_size", "min_img_size")
_ASPECT = ("max_aspect_ratio", "min_aspect_ratio")
JITTER = ("brightness", "contrast", "saturation")
SHIFTS = ("random_h", "random_s", "random_l")
_LIGHT = ("max_random_contrast", "max_random_illumination")
_AUG_SEQ_HINT = "omit it, because there is only one sequence of augmentations"

# Parameters that ImageDetRecordIter shares with ImageRecordIter.
_SHARED = (
    "path_imgrec path_imglist data_shape batch_size data_name label_name round_batch shuffle seed num_parts part_index "
    "preprocess_threads prefetch_buffer ctx device_id dtype verbose resize inter_method shuffle_chunk_size "
    "shuffle_chunk_seed mean_img mean_r mean_g mean_b mean_a scale"
)
_COVERAGES = ("overlaps", "sample_coverages", "object_coverages")
# Defaults of parameters that accept one value for all crop samplers, or one value per crop sampler.
_SAMPLER_DEFAULTS: dict[str, Any] = _map_names_to_values(
    [
        ((0.0,), "min_crop_scales min_crop_overlaps min_crop_sample_coverages min_crop_object_coverages"),
        ((1.0,), "max_crop_scales max_crop_overlaps max_crop_sample_coverages max_crop_object_coverages"),
        ((1.0,), "min_crop_aspect_ratios max_crop_aspect_ratios"),
        ((25,), "max_crop_trials"),
    ]
)
_DETECTION_DEFAULTS: dict[str, Any] = {
    **{name: _DEFAULTS[name] for name in _SHARED.split()},
    **_SAMPLER_DEFAULTS,
    **_map_names_to_values(
        [
            ("det_aug_default", "aug_seq"),
            ("center", "crop_emit_mode"),
            ("force", "resize_mode"),
            (-1, "label_width"),
            (0, "label_pad_width max_random_hue max_random_saturation max_random_illumination"),
            (1, "num_crop_sampler"),
            (127, "fill_value"),
            (-1.0, "label_pad_value"),
            (0.0, "std_r std_g std_b std_a rand_crop_prob rand_pad_prob rand_mirror_prob max_random_contrast"),
            (0.0, "random_hue_prob random_saturation_prob random_illumination_prob random_contrast_prob"),
            (0.3, "emit_overlap_thresh"),
            (1.0, "max_pad_scale"),
        ]
    ),
}
_DETECTION_RANGES: dict[str, tuple[float, float]] = {
    **{name: range_ for name, range_ in _RANGES.items() if name in _SHARED.split()},
    **_map_names_to_values(
        [
            ((-1, 1), "rand_crop_prob rand_pad_prob"),
            ((0, 1), "rand_mirror_prob emit_overlap_thresh"),
            ((0, 100), "max_pad_scale"),
            ((0, 255), "fill_value"),
            ((0, 1000), "num_crop_sampler"),
            ((-100, 100), "max_random_contrast"),
            ((-255, 255), "max_random_hue max_random_saturation max_random_illumination"),
        ]
    ),
}
_DETECTION_CHOICES = {"crop_emit_mode": ("center", "overlap"), "resize_mode": ("force", "shrink", "fit")}
# Parameters that support only their default value. Each maps to a hint that says what to do instead.
_DETECTION_UNSUPPORTED = {
    "aug_seq": _AUG_SEQ_HINT,
    "mean_img": "use mean_r, mean_g and mean_b",
    "path_imglist": "pack the labels into the records: im2rec --pack-label",
    "shuffle_chunk_size": "use shuffle=True, which permutes all records",
    "shuffle_chunk_seed": "use shuffle=True, which permutes all records",
}
_PROBABILITIES = ("rand_crop_prob", "rand_pad_prob", "rand_mirror_prob", "random_contrast_prob")


def has_affine_transform(values: Mapping[str, Any]) -> bool:
    """Return whether images are rotated, sheared, scaled or stretched."""
    if values["max_rotate_angle"] > 0 or values["rotate"] > 0:
        return True
    names = _AFFINE if values["random_resized_crop"] else _AFFINE + _ASPECT
    return any(values[name] != _DEFAULTS[name] for name in names)


def has_color_shifts(values: Mapping[str, Any]) -> bool:
    """Return whether hue, saturation or lightness are shifted."""
    return any(values[name] for name in SHIFTS)


def has_random_light(values: Mapping[str, Any]) -> bool:
    """Return whether contrast or illumination of the normalized values is random."""
    return any(values[name] for name in _LIGHT)


def crop_aspect_ratios(values: Mapping[str, Any]) -> tuple[float, float]:
    """Return the smallest and the largest aspect ratio (width divided by height) of random crops."""
    low, high = values["min_aspect_ratio"], np.float32(values["max_aspect_ratio"])
    one = np.float32(1)
    return (float(one - high), float(one + high)) if low is None else (low, float(high))


def read_parameters(given: Mapping[str, Any]) -> dict[str, Any]:
    """Parse and check the given parameters of ImageRecordIter; return all parameters, including defaults."""
    values = _parse_parameters(given, _DEFAULTS)
    if values["aug_seq"] != _DEFAULTS["aug_seq"]:
        raise _unsupported_error("aug_seq", values["aug_seq"], _AUG_SEQ_HINT)
    _check_ranges(values, _RANGES)
    channels = values["data_shape"][0]
    _check_shape(values["data_shape"], (1, 3, 4))
    if values["dtype"] not in _DTYPES:
        raise _invalid_value_error("dtype", values["dtype"], "float32, uint8 or int8")
    for color in "rgba"[:channels]:
        if not values[f"std_{color}"] > 0:
            raise _invalid_value_error(f"std_{color}", values[f"std_{color}"], "a positive number")
    if values["inter_method"] not in METHODS or (values["inter_method"] == NEAREST and has_affine_transform(values)):
        raise _invalid_value_error(
            "inter_method", values["inter_method"], "0 to 4, 9 or 10, but not 0 with rotation or scaling"
        )
    _check_crop_options(values)
    _check_color_options(values)
    return values


def read_detection_parameters(given: Mapping[str, Any]) -> dict[str, Any]:
    """Parse and check the given parameters of ImageDetRecordIter; return all parameters, including defaults."""
    values = _parse_parameters(given, _DETECTION_DEFAULTS)
    for name, hint in _DETECTION_UNSUPPORTED.items():
        if values[name] != _DETECTION_DEFAULTS[name]:
            raise _unsupported_error(name, values[name], hint)
    if values["dtype"] not in (None, "float32"):
        raise _unsupported_error("dtype", values["dtype"], "omit it, because batches are always float32")
    _check_shape(values["data_shape"], (1, 3))
    _check_ranges(values, _DETECTION_RANGES)
    for name, words in _DETECTION_CHOICES.items():
        if values[name] not in words:
            raise _invalid_value_error(name, values[name], " or ".join(words))
    if values["inter_method"] not in METHODS:
        raise _invalid_value_error("inter_method", values["inter_method"], "0 to 4, 9 or 10")
    if values["data_shape"][0] == 1 and _changes_colors(values):
        raise _unsupported_error("random_hue_prob", values["random_hue_prob"], "omit it, because images have 1 channel")
    _check_crop_samplers(values)
    floats = [name for name, default in _DETECTION_DEFAULTS.items() if isinstance(default, float)]
    return values | {name: _round_like_text_parser(values[name]) for name in floats}


def is_augmented(values: Mapping[str, Any]) -> bool:
    """Return whether the parameters require more than decoding images and resizing them to the shape of the batch."""
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


def _round_like_text_parser(value: float) -> float:
    """Round as MXNet's text parser does: convert the integer part and the fraction to float32, then add them."""
    integer = np.trunc(value)
    return float(np.float32(integer) + np.float32(value - integer))


def _parse_parameters(given: Mapping[str, Any], defaults: Mapping[str, Any]) -> dict[str, Any]:
    """Convert the given values to the types of their defaults, and add the defaults of all other parameters."""
    for name in given:
        if name not in defaults:
            similar = suggest_name(name, defaults)
            hint = f"did you mean {similar}?" if similar else None
            raise ParameterError(f"unknown parameter {name!r}", found=name, hint=hint)
    values = {
        name: _parse_value(name, given[name], default) if name in given else default
        for name, default in defaults.items()
    }
    for name in _REQUIRED:
        if values[name] is None:
            raise ParameterError(f"Required parameter {name} is not presented", expected=name)
    if values["ctx"] not in ("cpu", "gpu"):
        raise _invalid_value_error("ctx", values["ctx"], "cpu or gpu")
    return values


def _check_ranges(values: Mapping[str, Any], ranges: Mapping[str, tuple[float, float]]) -> None:
    """Raise ParameterError if a number is out of its range."""
    for name, (low, high) in ranges.items():
        if not low <= values[name] <= high or (values[name] == 0 and name in _NONZERO):
            raise _invalid_value_error(name, values[name], f"{low:g} to {high:g}")


def _check_shape(shape: tuple[int, ...], channels: tuple[int, ...]) -> None:
    """Raise ParameterError if `data_shape` is not (channels, height, width) with a supported number of channels."""
    if shape[0] not in channels or min(shape[1:]) < 1:
        raise _invalid_value_error("data_shape", shape, f"{' or '.join(map(str, channels))} channels, height and width")


def _invalid_value_error(name: str, found: Any, expected: str) -> ParameterError:
    """Create the error for an invalid value of a parameter."""
    message = f"invalid value for parameter {name}"
    return ParameterError(message, expected=expected, found=str(found))


def _unsupported_error(name: str, found: Any, hint: str) -> UnsupportedError:
    """Create the error for a value that MXNet supports but this package does not."""
    message = f"the parameter {name} is not supported"
    return UnsupportedError(message, found=f"{name}={found!r}", hint=hint)


def _check_crop_options(values: Mapping[str, Any]) -> None:
    largest, smallest = values["max_crop_size"], values["min_crop_size"]
    scales = values["min_random_scale"], values["max_random_scale"]
    if values["random_resized_crop"] and (values["rand_crop"] or (largest, smallest) != (-1, -1) or scales != (1, 1)):
        raise ParameterError("random_resized_crop cannot be combined with rand_crop, crop sizes or random scales")
    if smallest > largest or (largest > 0 > smallest):
        raise _invalid_value_error(
            "min_crop_size, max_crop_size", (smallest, largest), "both set or both omitted, in ascending order"
        )
    for name, (low, high) in {
        "min_random_area, max_random_area": (values["min_random_area"], values["max_random_area"]),
        "min_aspect_ratio, max_aspect_ratio": crop_aspect_ratios(values),
        "min_random_scale, max_random_scale": scales,
        "min_img_size, max_img_size": (values["min_img_size"], values["max_img_size"]),
    }.items():
        if low > high or ("aspect" in name and low <= 0):
            expected = "0 < min <= max" if "aspect" in name else "min <= max"
            raise _invalid_value_error(name, (low, high), expected)


def _check_color_options(values: Mapping[str, Any]) -> None:
    channels = values["data_shape"][0]
    for name in (*JITTER, "pca_noise", *SHIFTS):
        if values[name] and (channels == 4 or (channels == 1 and name in SHIFTS)):
            raise _unsupported_error(name, values[name], f"omit it, because the number of channels is {channels}")
    if has_random_light(values) and values["dtype"] not in (None, "float32"):
        message = "max_random_contrast and max_random_illumination require dtype float32"
        raise MXNetError(message, kind="bad_parameter", found=values["dtype"])


def _check_crop_samplers(values: Mapping[str, Any]) -> None:
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
                expected = "0 <= min < max <= 1" if name == "scales" else "0 <= min <= max"
                raise _invalid_value_error(f"min_crop_{name}, max_crop_{name}", (low, high), expected)
    if not all(0 <= trials <= _MAX_SIDE for trials in values["max_crop_trials"]):
        raise _invalid_value_error("max_crop_trials", values["max_crop_trials"], f"0 to {_MAX_SIDE}")


def _parse_value(name: str, value: Any, default: Any) -> Any:
    if name in _OPTIONAL and (value is None or value == "None"):
        return None
    parse = _PARSERS_BY_NAME[name] if name in _PARSERS_BY_NAME else _PARSERS_BY_TYPE[type(default)]
    try:
        return parse(value)
    except (TypeError, ValueError) as error:
        message = f"Invalid Parameter format for {name} expect {_TYPES.get(parse, 'str')} but value='{value}'"
        raise ParameterError(message, found=repr(value)) from error


def _parse_int(value: Any) -> int:
    number = int(value)
    if not isinstance(value, str) and number != value:
        raise ValueError(f"expected an integer, got {value!r}")
    return number


def _parse_bool(value: Any) -> bool:
    words = {"1": True, "true": True, "0": False, "false": False}
    if str(value).lower() not in words:
        raise ValueError(f"expected one of {', '.join(words)}, got {value!r}")
    return words[str(value).lower()]


def _parse_shape(value: Any) -> tuple[int, ...]:
    parts = value.strip("()[] ").rstrip(",").split(",") if isinstance(value, str) else value
    shape = tuple(_parse_int(part) for part in parts)
    if len(shape) != 3:
        raise ValueError(f"expected 3 integers, got {value!r}")
    return shape


def _parse_floats(value: Any) -> tuple[float, ...]:
    return tuple(float(one) for one in (value if isinstance(value, list | tuple) else [value]))


def _parse_dtype(value: Any) -> str:
    return value if isinstance(value, str) else np.dtype(value).name


_PARSERS_BY_NAME: dict[str, Callable[[Any], Any]] = {
    "data_shape": _parse_shape,
    "batch_size": _parse_int,
    "dtype": _parse_dtype,
    "seed_aug": int,
    "min_aspect_ratio": float,
    **dict.fromkeys(("path_imgrec", "path_imgidx", "path_imglist"), os.fsdecode),
}
_PARSERS_BY_TYPE: dict[type, Callable[[Any], Any]] = {
    bool: _parse_bool,
    int: _parse_int,
    float: float,
    str: str,
    tuple: _parse_floats,
}
# Name of the type that each parser returns, as in MXNet's error messages.
_TYPES: dict[Any, str] = {
    _parse_int: "int",
    _parse_bool: "boolean",
    _parse_shape: "Shape(tuple)",
    _parse_floats: "tuple of <float>",
    int: "int",
    float: "float",
}
