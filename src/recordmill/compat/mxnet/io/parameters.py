"""The parameters of ImageRecordIter: names, defaults, forms, and which of them this package has."""

from __future__ import annotations

import difflib
import os
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from recordmill.compat.mxnet.base import ParameterError, UnsupportedError

# The parameters of MXNet 1.9.1's ImageRecordIter and their defaults; None has no value.
DEFAULTS: dict[str, Any] = {
    "path_imgrec": "",
    "path_imgidx": "",
    "path_imglist": "",
    "data_shape": None,
    "batch_size": None,
    "data_name": "data",
    "label_name": "softmax_label",
    "label_width": 1,
    "round_batch": True,
    "shuffle": False,
    "seed": 0,
    "seed_aug": None,
    "shuffle_chunk_size": 0,
    "shuffle_chunk_seed": 0,
    "num_parts": 1,
    "part_index": 0,
    "preprocess_threads": 4,
    "prefetch_buffer": 4,
    "ctx": "gpu",
    "device_id": 0,
    "dtype": None,
    "verbose": True,
    "aug_seq": "aug_default",
    "resize": -1,
    "rand_crop": False,
    "random_resized_crop": False,
    "max_rotate_angle": 0,
    "rotate": -1,
    "max_aspect_ratio": 0.0,
    "min_aspect_ratio": None,
    "max_shear_ratio": 0.0,
    "max_crop_size": -1,
    "min_crop_size": -1,
    "max_random_scale": 1.0,
    "min_random_scale": 1.0,
    "max_random_area": 1.0,
    "min_random_area": 1.0,
    "max_img_size": 1e10,
    "min_img_size": 0.0,
    "brightness": 0.0,
    "contrast": 0.0,
    "saturation": 0.0,
    "pca_noise": 0.0,
    "random_h": 0,
    "random_s": 0,
    "random_l": 0,
    "fill_value": 255,
    "inter_method": 1,
    "pad": 0,
    "mirror": False,
    "rand_mirror": False,
    "mean_img": "",
    "mean_r": 0.0,
    "mean_g": 0.0,
    "mean_b": 0.0,
    "mean_a": 0.0,
    "std_r": 1.0,
    "std_g": 1.0,
    "std_b": 1.0,
    "std_a": 1.0,
    "scale": 1.0,
    "max_random_contrast": 0.0,
    "max_random_illumination": 0.0,
}
# Parameters that only their defaults can have here, and what to do instead.
_ONLY_DEFAULT: dict[str, str] = {
    "aug_seq": "there is one way to augment: leave it out",
}
_OPTIONAL = {"seed_aug": int, "dtype": str, "min_aspect_ratio": float}
_NEEDED = ("data_shape", "batch_size")


def read_parameters(
    given: Mapping[str, Any], defaults: Mapping[str, Any] = DEFAULTS, only_default: Mapping[str, str] = _ONLY_DEFAULT
) -> dict[str, Any]:
    """All parameters with their values, of those that were given."""
    for name in given:
        if name not in defaults:
            close = difflib.get_close_matches(name, defaults, 1)
            hint = f"did you mean {close[0]}?" if close else None
            raise ParameterError(f"there is no parameter {name!r}", kind="bad_parameter", found=name, hint=hint)
    values = {
        name: _read(name, given[name], default) if name in given else default for name, default in defaults.items()
    }
    for name in _NEEDED:
        if values[name] is None:
            message = (
                f"Required parameter {name} of {'Shape(tuple)' if name == 'data_shape' else 'int'} is not presented"
            )
            raise ParameterError(message, kind="bad_parameter", expected=name, found="nothing")
    if values["ctx"] not in ("cpu", "gpu"):
        message = f"Invalid Input: '{values['ctx']}', valid values are: {{'cpu', 'gpu'}}"
        raise ParameterError(message, kind="bad_parameter", expected="cpu or gpu", found=repr(values["ctx"]))
    for name, hint in only_default.items():
        if values[name] != defaults[name]:
            message = f"the parameter {name} is not supported"
            found = f"{name}={values[name]!r}"
            raise UnsupportedError(message, kind="unsupported", expected=repr(defaults[name]), found=found, hint=hint)
    return values


def _read(name: str, value: Any, default: Any) -> Any:
    if name in _OPTIONAL:
        if value is None or value == "None":
            return None
        form: Callable[[Any], Any] = _word if name == "dtype" else _OPTIONAL[name]
    elif name == "data_shape":
        form = _shape
    elif isinstance(default, tuple):
        form = _tuple
    elif isinstance(default, bool):
        form = _flag
    elif isinstance(default, str):
        form = str if not name.startswith("path") else _path
    else:
        form = _whole if isinstance(default, int) or name == "batch_size" else float
    try:
        return form(value)
    except (TypeError, ValueError) as error:
        expected = {"_whole": "int", "_flag": "boolean", "_shape": "Shape(tuple)"}.get(form.__name__, form.__name__)
        message = f"Invalid Parameter format for {name} expect {expected} but value='{value}'"
        raise ParameterError(message, kind="bad_parameter", expected=expected, found=repr(value)) from error


def _whole(value: Any) -> int:
    number = int(value)
    if not isinstance(value, str) and number != value:
        raise ValueError(value)
    return number


def _flag(value: Any) -> bool:
    words = {"1": True, "true": True, "0": False, "false": False}
    if str(value).lower() not in words:
        raise ValueError(value)
    return words[str(value).lower()]


def _shape(value: Any) -> tuple[int, ...]:
    parts = value.strip("()[] ").rstrip(",").split(",") if isinstance(value, str) else value
    shape = tuple(_whole(part) for part in parts)
    if len(shape) != 3:
        raise ValueError("three numbers")
    return shape


def _tuple(value: Any) -> tuple[float, ...]:
    return tuple(float(one) for one in (value if isinstance(value, list | tuple) else [value]))


def _path(value: Any) -> str:
    return os.fsdecode(value)


def _word(value: Any) -> str:
    return value if isinstance(value, str) else np.dtype(value).name
