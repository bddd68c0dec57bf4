"""Numbers of symmetric Beta distributions from counter-based draws."""

from __future__ import annotations

import math

import numpy as np

from recordmill.decode.draws import Draws

_ATTEMPTS = 64
_PER_GAMMA = 3 * _ATTEMPTS + 1


def draw_beta(draws: Draws, position: int, stage: int, alpha: float, first: int = 0) -> float:
    """One number of Beta(alpha, alpha), as the share of one of two Gamma numbers in their sum."""
    one, other = (_log_gamma(draws, position, stage, alpha, first + part * _PER_GAMMA) for part in (0, 1))
    return 1 / (1 + math.exp(min(700.0, other - one)))


def _log_gamma(draws: Draws, position: int, stage: int, shape: float, first: int) -> float:
    """Logarithm of a number of Gamma(shape, 1); below 1 by way of shape + 1."""
    unit = draws.uniform([position], stage, _PER_GAMMA, first)[0]
    lift = math.log1p(-unit[-1]) / shape if shape < 1 else 0.0
    center = (shape + 1 if shape < 1 else shape) - 1 / 3
    tries = unit[:-1].reshape(_ATTEMPTS, 3)
    normal = np.sqrt(-2 * np.log1p(-tries[:, 0])) * np.cos(2 * np.pi * tries[:, 1])
    cube = (1 + normal / math.sqrt(9 * center)) ** 3
    logs = np.log(np.maximum(cube, 1e-300))
    accepted = (cube > 0) & (np.log1p(-tries[:, 2]) < normal**2 / 2 + center * (1 - cube + logs))
    return math.log(center) + float(logs[int(accepted.argmax())]) + lift
