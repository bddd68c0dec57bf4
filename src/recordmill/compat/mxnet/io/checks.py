"""What the values of the parameters must be, alone and together, before any record is read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from recordmill.compat.mxnet.base import MXNetError, ParameterError, UnsupportedError
from recordmill.compat.mxnet.kernels import BY_SIZE, RANDOM

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
    "max_random_contrast": (0, 100),
    "max_random_illumination": (0, 1e6),
}
_WHOLE_WINDOW = ("max_random_area", "min_random_area", "max_aspect_ratio", "min_aspect_ratio")
_NOT_ZERO = ("resize", "max_crop_size", "min_crop_size")
_OF_FLOATS = ("max_random_contrast", "max_random_illumination")


def check_values(values: Mapping[str, Any], defaults: Mapping[str, Any]) -> None:
    """Refuse values that mean nothing, and pairs that contradict one another.

    Parameters
    ----------
    values, defaults : mapping of str to object
        The parameters of the iterator.

    Raises
    ------
    ParameterError
        A value out of its range, or a contradiction.
    UnsupportedError
        What MXNet does and this package does not.
    MXNetError
        A dtype that MXNet does not have either.
    """
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
    if method == RANDOM:
        hint = "choose one: 0 to 4, or 9"
        raise UnsupportedError("inter_method=10 (a random one) is not supported", kind="unsupported", hint=hint)
    if method not in (0, 1, 2, 3, 4, BY_SIZE):
        raise ParameterError(f"Unknown interpolation method {method}", kind="bad_parameter", expected="0 to 4, or 9")
    if method == BY_SIZE and values["random_resized_crop"]:
        message = "inter_method=9 is not supported with random_resized_crop"
        raise UnsupportedError(message, kind="unsupported", hint="choose one: 0 to 4")


def _check_windows(values: Mapping[str, Any], defaults: Mapping[str, Any]) -> None:
    largest, smallest = values["max_crop_size"], values["min_crop_size"]
    if not values["random_resized_crop"]:
        if smallest > largest or (largest > 0 > smallest):
            message = "min_crop_size and max_crop_size go together, the first not above the second"
            raise ParameterError(message, kind="bad_parameter", found=f"{smallest} and {largest}")
        for name in _WHOLE_WINDOW:
            if values[name] != defaults[name]:
                message = f"the parameter {name} is not supported without random_resized_crop=True"
                raise UnsupportedError(message, kind="unsupported", found=f"{name}={values[name]}")
        return
    if values["rand_crop"] or largest != -1 or smallest != -1:
        message = (
            "Setting random_resized_crop to true conflicts with min_random_scale, max_random_scale, min_crop_size, "
            "max_crop_size, and rand_crop."
        )
        raise ParameterError(message, kind="bad_parameter")
    for name in ("resize", "pad"):
        if values[name] != defaults[name]:
            message = f"the parameter {name} is not supported with random_resized_crop=True"
            raise UnsupportedError(message, kind="unsupported", found=f"{name}={values[name]}")
    low, high = aspect_ratios(values)
    if values["min_random_area"] > values["max_random_area"] or not 0 < low <= high:
        message = "the ranges of random_resized_crop are empty"
        raise ParameterError(message, kind="bad_parameter", found=f"aspect ratios from {low} to {high}")


def aspect_ratios(values: Mapping[str, Any]) -> tuple[float, float]:
    """Range of width / height of random windows.

    Parameters
    ----------
    values : mapping of str to object

    Returns
    -------
    (float, float)
    """
    low, high = values["min_aspect_ratio"], values["max_aspect_ratio"]
    return (1 - high, 1 + high) if low is None else (low, high)


def _check_colours(values: Mapping[str, Any]) -> None:
    colours = [name for name in ("brightness", "contrast", "saturation", "pca_noise") if values[name]]
    if colours and (values["data_shape"][0] == 4 or values["max_crop_size"] > 0):
        what = "four channels" if values["data_shape"][0] == 4 else "max_crop_size"
        raise UnsupportedError(f"the parameter {colours[0]} is not supported with {what}", kind="unsupported")
    floats = [name for name in _OF_FLOATS if values[name]]
    if floats and values["dtype"] not in (None, "float32"):
        raise MXNetError(f"the parameter {floats[0]} needs dtype float32", kind="bad_parameter", found=values["dtype"])
