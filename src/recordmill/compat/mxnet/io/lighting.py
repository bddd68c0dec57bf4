"""Contrast and illumination of ImageRecordIter: all levels of an image times a factor, and more or less of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

import recordmill as rm
from recordmill.compat.mxnet.io.lots import Lots
from recordmill.compat.mxnet.io.numbers import Numbers

Floats = NDArray[np.float32]


def draw_light(values: Mapping[str, Any], chance: Numbers) -> Floats:
    """Draw the factor and the summand of an image."""
    light: Floats = light_of(np.array([[chance.uniform(), chance.uniform()]], np.float32), values)[0]
    return light


def light_of(units: Floats, values: Mapping[str, Any]) -> Floats:
    """Factors and summands, with `scale`, of numbers from 0 to 1."""
    most = np.array([values["max_random_contrast"], values["max_random_illumination"]], np.float32)
    about = units * most * np.float32(2) - most
    about[:, 0] += np.float32(1)
    light: Floats = about * np.float32(values["scale"])
    return light


def lights_of(lots: Lots, values: Mapping[str, Any]) -> Floats:
    """Factors and summands that depend on seed, epoch and position."""
    return light_of(lots.draws.uniform(lots.positions, rm.Stage.FREE, 2).astype(np.float32), values)
