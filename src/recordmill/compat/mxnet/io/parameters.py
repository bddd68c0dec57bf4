"""The parameters of ImageRecordIter: names, defaults, forms, ranges and combinations."""

from __future__ import annotations

import difflib
import os
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from recordmill.compat.mxnet.base import MXNetError, ParameterError, UnsupportedError
from recordmill.compat.mxnet.interpolation import METHODS, NEAREST

MAX_INT = 2**31 - 1
MAX_SIDE = 1 << 15
# The parameters of MXNet 1.9.1's ImageRecordIter by default; None means that there is no value.
_NAMES_BY_DEFAULT: list[tuple[Any, str]] = [
    (None, "data_shape batch_size seed_aug dtype min_aspect_ratio"),
    ("", "path_imgrec path_imgidx path_imglist mean_img"),
    (False, "shuffle rand_crop random_resized_crop mirror rand_mirror"),
    (True, "round_batch verbose"),
    (-1, "resize rotate max_crop_size min_crop_size"),
    (0, "seed shuffle_chunk_size shuffle_chunk_seed part_index device_id max_rotate_angle pad"),
    (0, "random_h random_s random_l"),
    (1, "label_width num_parts inter_method"),
    (4, "preprocess_threads prefetch_buffer"),
    (0.0, "max_aspect_ratio max_shear_ratio min_img_size brightness contrast saturation pca_noise"),
    (0.0, "mean_r mean_g mean_b mean_a max_random_contrast max_random_illumination"),
    (1.0, "max_random_scale min_random_scale max_random_area min_random_area std_r std_g std_b std_a scale"),
]
DEFAULTS: dict[str, Any] = {
    **{name: default for default, names in _NAMES_BY_DEFAULT for name in names.split()},
    "data_name": "data",
    "label_name": "softmax_label",
    "ctx": "gpu",
    "aug_seq": "aug_default",
    "max_img_size": 1e10,
    "fill_value": 255,
}
# Smallest and largest value of parameters.
_RANGES: dict[str, tuple[float, float]] = {
    "batch_size": (1, MAX_INT),
    "label_width": (1, 2**20),
    "num_parts": (1, MAX_INT),
    "preprocess_threads": (1, 1024),
    "prefetch_buffer": (0, 1024),
    "shuffle_chunk_size": (0, MAX_INT),
    **dict.fromkeys(("resize", "max_crop_size", "min_crop_size"), (-1, MAX_SIDE)),
    **dict.fromkeys(("pad", "min_img_size"), (0, MAX_SIDE)),
    "max_img_size": (1, 1e10),
    **dict.fromkeys(("min_random_area", "max_random_area"), (1e-9, 1)),
    **dict.fromkeys(("min_random_scale", "max_random_scale"), (1e-6, 1000)),
    "max_rotate_angle": (0, MAX_INT),
    "max_shear_ratio": (0, 1000),
    **dict.fromkeys(("brightness", "contrast", "saturation", "pca_noise", "max_random_contrast"), (0, 100)),
    **dict.fromkeys(("fill_value", "random_h", "random_s", "random_l"), (0, 255)),
    "max_random_illumination": (0, 1e6),
}
_NONZERO = ("resize", "max_crop_size", "min_crop_size")
_REQUIRED = ("data_shape", "batch_size")
_OPTIONAL = {"seed_aug": int, "dtype": str, "min_aspect_ratio": float}
_DTYPES = (None, "float32", "uint8", "int8")
_AFFINE = ("max_shear_ratio", "max_random_scale", "min_random_scale", "max_img_size", "min_img_size")
_ASPECT = ("max_aspect_ratio", "min_aspect_ratio")
JITTER = ("brightness", "contrast", "saturation")
SHIFTS = ("random_h", "random_s", "random_l")
_LIGHT = ("max_random_contrast", "max_random_illumination")


def has_affine(values: Mapping[str, Any]) -> bool:
    """Return whether images are rotated, sheared, scaled or stretched."""
    if values["max_rotate_angle"] > 0 or values["rotate"] > 0:
        return True
    names = _AFFINE if values["random_resized_crop"] else _AFFINE + _ASPECT
    return any(values[name] != DEFAULTS[name] for name in names)


def has_jitter(values: Mapping[str, Any]) -> bool:
    """Return whether brightness, contrast, saturation or color noise are random."""
    return any(values[name] for name in (*JITTER, "pca_noise"))


def has_shifts(values: Mapping[str, Any]) -> bool:
    """Return whether hue, saturation or lightness are shifted."""
    return any(values[name] for name in SHIFTS)


def has_light(values: Mapping[str, Any]) -> bool:
    """Return whether contrast or illumination of the normalized values is random."""
    return any(values[name] for name in _LIGHT)


def aspect_ratios(values: Mapping[str, Any]) -> tuple[float, float]:
    """Return the smallest and largest width / height of random crops."""
    low, high = values["min_aspect_ratio"], np.float32(values["max_aspect_ratio"])
    one = np.float32(1)
    return (float(one - high), float(one + high)) if low is None else (low, float(high))


def read_parameters(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of all parameters of ImageRecordIter."""
    values = parse_parameters(given, DEFAULTS)
    if values["aug_seq"] != DEFAULTS["aug_seq"]:
        raise unsupported_error("aug_seq", values["aug_seq"], "omit it: there is one sequence of augmentations")
    check_ranges(values, _RANGES)
    channels = values["data_shape"][0]
    check_shape(values["data_shape"], (1, 3, 4))
    if values["dtype"] not in _DTYPES:
        raise range_error("dtype", values["dtype"], "float32, uint8 or int8")
    for color in "rgba"[:channels]:
        if not values[f"std_{color}"] > 0:
            raise range_error(f"std_{color}", values[f"std_{color}"], "a positive number")
    if values["inter_method"] not in METHODS or (values["inter_method"] == NEAREST and has_affine(values)):
        raise range_error("inter_method", values["inter_method"], "1 to 4, 9, 10, or 0 without rotation and scaling")
    _check_crops(values)
    _check_colors(values)
    return values


def parse_parameters(given: Mapping[str, Any], defaults: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of all parameters, converted to the types of their defaults."""
    for name in given:
        if name not in defaults:
            close = difflib.get_close_matches(name, defaults, 1)
            hint = f"did you mean {close[0]}?" if close else None
            raise ParameterError(f"unknown parameter {name!r}", found=name, hint=hint)
    values = {
        name: _parse(name, given[name], default) if name in given else default for name, default in defaults.items()
    }
    for name in _REQUIRED:
        if values[name] is None:
            raise ParameterError(f"Required parameter {name} is not presented", expected=name)
    if values["ctx"] not in ("cpu", "gpu"):
        raise range_error("ctx", values["ctx"], "cpu or gpu")
    return values


def check_ranges(values: Mapping[str, Any], ranges: Mapping[str, tuple[float, float]]) -> None:
    """Raise an error for a number that is out of range."""
    for name, (low, high) in ranges.items():
        if not low <= values[name] <= high or (values[name] == 0 and name in _NONZERO):
            raise range_error(name, values[name], f"{low:g} to {high:g}")


def check_shape(shape: tuple[int, ...], channels: tuple[int, ...]) -> None:
    """Raise an error for a data shape that no batch can have."""
    if shape[0] not in channels or min(shape[1:]) < 1:
        raise range_error("data_shape", shape, f"{' or '.join(map(str, channels))} channels, height and width")


def range_error(name: str, found: Any, expected: str) -> ParameterError:
    """Return the error for a value that a parameter cannot have."""
    message = f"value {found} for Parameter {name} is out of range"
    return ParameterError(message, expected=expected, found=str(found))


def unsupported_error(name: str, found: Any, hint: str) -> UnsupportedError:
    """Return the error for a value that MXNet takes and this package does not."""
    message = f"the parameter {name} is not supported"
    return UnsupportedError(message, found=f"{name}={found!r}", hint=hint)


def _check_crops(values: Mapping[str, Any]) -> None:
    largest, smallest = values["max_crop_size"], values["min_crop_size"]
    scales = values["min_random_scale"], values["max_random_scale"]
    if values["random_resized_crop"] and (values["rand_crop"] or (largest, smallest) != (-1, -1) or scales != (1, 1)):
        raise ParameterError("random_resized_crop cannot be combined with rand_crop, crop sizes and random scales")
    if smallest > largest or (largest > 0 > smallest):
        raise range_error("min_crop_size, max_crop_size", (smallest, largest), "both, in ascending order")
    for name, (low, high) in {
        "areas": (values["min_random_area"], values["max_random_area"]),
        "aspect ratios": aspect_ratios(values),
        "scales": scales,
        "image sizes": (values["min_img_size"], values["max_img_size"]),
    }.items():
        if low > high or (name == "aspect ratios" and low <= 0):
            raise range_error(name, (low, high), "a positive range in ascending order")


def _check_colors(values: Mapping[str, Any]) -> None:
    channels = values["data_shape"][0]
    for name in (*JITTER, "pca_noise", *SHIFTS):
        if values[name] and (channels == 4 or (channels == 1 and name in SHIFTS)):
            raise unsupported_error(name, values[name], f"data_shape has {channels} channels")
    if has_light(values) and values["dtype"] not in (None, "float32"):
        message = "max_random_contrast and max_random_illumination need dtype float32"
        raise MXNetError(message, kind="bad_parameter", found=values["dtype"])


def _parse(name: str, value: Any, default: Any) -> Any:
    if name in _OPTIONAL and (value is None or value == "None"):
        return None
    parse = _parser_of(name, default)
    try:
        return parse(value)
    except (TypeError, ValueError) as error:
        message = f"Invalid Parameter format for {name} expect {_TYPES.get(parse, 'str')} but value='{value}'"
        raise ParameterError(message, found=repr(value)) from error


def _parser_of(name: str, default: Any) -> Callable[[Any], Any]:
    if name == "data_shape":
        return _parse_shape
    if name == "dtype":
        return _parse_dtype
    if name in _OPTIONAL:
        return _OPTIONAL[name]
    if isinstance(default, tuple):
        return _parse_floats
    if isinstance(default, bool):
        return _parse_bool
    if isinstance(default, str):
        return os.fsdecode if name.startswith("path") else str
    return _parse_int if isinstance(default, int) or name == "batch_size" else float


def _parse_int(value: Any) -> int:
    number = int(value)
    if not isinstance(value, str) and number != value:
        raise ValueError(value)
    return number


def _parse_bool(value: Any) -> bool:
    words = {"1": True, "true": True, "0": False, "false": False}
    if str(value).lower() not in words:
        raise ValueError(value)
    return words[str(value).lower()]


def _parse_shape(value: Any) -> tuple[int, ...]:
    parts = value.strip("()[] ").rstrip(",").split(",") if isinstance(value, str) else value
    shape = tuple(_parse_int(part) for part in parts)
    if len(shape) != 3:
        raise ValueError(value)
    return shape


def _parse_floats(value: Any) -> tuple[float, ...]:
    return tuple(float(one) for one in (value if isinstance(value, list | tuple) else [value]))


def _parse_dtype(value: Any) -> str:
    return value if isinstance(value, str) else np.dtype(value).name


_TYPES: dict[Any, str] = {
    _parse_int: "int",
    _parse_bool: "boolean",
    _parse_shape: "Shape(tuple)",
    _parse_floats: "tuple of <float>",
    int: "int",
    float: "float",
}
