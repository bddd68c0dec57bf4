"""What the parameters of ImageRecordIter ask for, in the terms of the steps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from recordmill.compat.mxnet.io.parameters import DEFAULTS

_MAPPED = ("max_shear_ratio", "max_random_scale", "min_random_scale", "max_img_size", "min_img_size")
_JITTER = ("brightness", "contrast", "saturation", "pca_noise")
_SHIFTS = ("random_h", "random_s", "random_l")


def has_map(values: Mapping[str, Any]) -> bool:
    """Whether images go through an affine map at all."""
    if values["max_rotate_angle"] > 0 or values["rotate"] > 0:
        return True
    names = _MAPPED if values["random_resized_crop"] else (*_MAPPED, "max_aspect_ratio", "min_aspect_ratio")
    return any(values[name] != DEFAULTS[name] for name in names)


def aspect_ratios(values: Mapping[str, Any]) -> tuple[float, float]:
    """Range of width / height of random windows."""
    low, high = values["min_aspect_ratio"], np.float32(values["max_aspect_ratio"])
    one = np.float32(1)
    return (float(one - high), float(one + high)) if low is None else (low, float(high))


def has_jitter(values: Mapping[str, Any]) -> bool:
    """Whether brightness, contrast, saturation or noise of colours are random."""
    return any(values[name] for name in _JITTER)


def has_shifts(values: Mapping[str, Any]) -> bool:
    """Whether hue, saturation or lightness are shifted."""
    return any(values[name] for name in _SHIFTS)


def has_light(values: Mapping[str, Any]) -> bool:
    """Whether the levels of images are changed at random."""
    return bool(values["max_random_contrast"] or values["max_random_illumination"])
