"""What the values of the parameters must be, alone and together, before any record is read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from recordmill.compat.mxnet.base import MXNetError, ParameterError, UnsupportedError
from recordmill.compat.mxnet.io.asked import aspect_ratios, has_map
from recordmill.compat.mxnet.kernels import BY_SIZE, NEAREST, RANDOM

_DTYPES = ("float32", "uint8", "int8")
# name: smallest and largest value
_RANGES: dict[str, tuple[float, float]] = {
    "batch_size": (1, 2**31),
    "label_width": (1, 2**20),
    "num_parts": (1, 2**31),
    "preprocess_threads": (1, 1024),
    "prefetch_buffer": (0, 1024),
    "resize": (-1, 1 << 15),
    "pad": (0, 1 << 15),
    "fill_value": (0, 255),
    "max_crop_size": (-1, 1 << 15),
    "min_crop_size": (-1, 1 << 15),
    "min_random_area": (1e-9, 1),
    "max_random_area": (1e-9, 1),
    "brightness": (0, 100),
    "contrast": (0, 100),
    "saturation": (0, 100),
    "pca_noise": (0, 100),
    "random_h": (0, 255),
    "random_s": (0, 255),
    "random_l": (0, 255),
    "max_rotate_angle": (0, 2**31 - 1),
    "max_shear_ratio": (0, 1000),
    "min_random_scale": (1e-6, 1000),
    "max_random_scale": (1e-6, 1000),
    "min_img_size": (0, 1 << 15),
    "max_img_size": (1, 1e10),
    "shuffle_chunk_size": (0, 2**31),
    "max_random_contrast": (0, 100),
    "max_random_illumination": (0, 1e6),
}
_OF_COLOURS = ("random_h", "random_s", "random_l")
_COLOURS = ("brightness", "contrast", "saturation", "pca_noise", *_OF_COLOURS)
_NOT_ZERO = ("resize", "max_crop_size", "min_crop_size")
_OF_FLOATS = ("max_random_contrast", "max_random_illumination")


def check_values(values: Mapping[str, Any], defaults: Mapping[str, Any]) -> None:
    """Refuse values that mean nothing, and pairs that contradict one another."""
    for name, (low, high) in _RANGES.items():
        means_nothing = values[name] == 0 and name in _NOT_ZERO
        if means_nothing or not low <= values[name] <= high:
            message = f"value {values[name]} for Parameter {name} is out of range"
            expected = f"{low:g} to {high:g}"
            raise ParameterError(message, kind="bad_parameter", expected=expected, found=str(values[name]))
    channels, height, width = values["data_shape"]
    if channels not in (1, 3, 4) or min(height, width) < 1:
        message = f"Invalid output shape [{channels},{height},{width}]"
        raise ParameterError(message, kind="bad_parameter", expected="1, 3 or 4 channels")
    if values["dtype"] not in (None, *_DTYPES):
        message = f"unknown dtype for ImageRecordIter2: {values['dtype']}"
        raise ParameterError(message, kind="bad_parameter", expected=", ".join(_DTYPES), found=values["dtype"])
    for colour in "rgba"[:channels]:
        if not values[f"std_{colour}"] > 0:
            message = f"std_{colour} is above 0, not {values[f'std_{colour}']}"
            raise ParameterError(message, kind="bad_parameter")
    _check_methods(values)
    _check_windows(values, defaults)
    _check_colours(values)


def _check_methods(values: Mapping[str, Any]) -> None:
    method = values["inter_method"]
    if method not in (0, 1, 2, 3, 4, BY_SIZE, RANDOM):
        raise ParameterError(f"Unknown interpolation method {method}", kind="bad_parameter", expected="0 to 4, 9 or 10")
    if method == NEAREST and has_map(values):
        message = "Check failed: invalid inter_method: valid value 0,1,2,3,9,10"
        raise ParameterError(
            message, kind="bad_parameter", expected="another than 0 where images are rotated or scaled"
        )


def _check_windows(values: Mapping[str, Any], defaults: Mapping[str, Any]) -> None:
    largest, smallest = values["max_crop_size"], values["min_crop_size"]
    scaled = any(values[name] != defaults[name] for name in ("min_random_scale", "max_random_scale"))
    if values["random_resized_crop"] and (values["rand_crop"] or largest != -1 or smallest != -1 or scaled):
        message = (
            "Setting random_resized_crop to true conflicts with min_random_scale, max_random_scale, min_crop_size, "
            "max_crop_size, and rand_crop."
        )
        raise ParameterError(message, kind="bad_parameter")
    if smallest > largest or (largest > 0 > smallest):
        message = "min_crop_size and max_crop_size go together, the first not above the second"
        raise ParameterError(message, kind="bad_parameter", found=f"{smallest} and {largest}")
    low, high = aspect_ratios(values)
    if values["min_random_area"] > values["max_random_area"] or not 0 < low <= high:
        message = "the ranges of areas or aspect ratios are empty"
        raise ParameterError(message, kind="bad_parameter", found=f"aspect ratios from {low} to {high}")
    if values["min_random_scale"] > values["max_random_scale"] or values["min_img_size"] > values["max_img_size"]:
        raise ParameterError("the ranges of scales or sizes are empty", kind="bad_parameter")


def _check_colours(values: Mapping[str, Any]) -> None:
    channels = values["data_shape"][0]
    for name in _COLOURS:
        few = channels == 1 and name in _OF_COLOURS
        if values[name] and (channels == 4 or few):
            message = f"the parameter {name} is not supported with {channels} channel{'s' if channels > 1 else ''}"
            raise UnsupportedError(message, kind="unsupported", found=f"{name}={values[name]}")
    floats = [name for name in _OF_FLOATS if values[name]]
    if floats and values["dtype"] not in (None, "float32"):
        raise MXNetError(f"the parameter {floats[0]} needs dtype float32", kind="bad_parameter", found=values["dtype"])
