"""Steps that turn pictures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from recordmill.compat.mxnet.gluon.block import Block
from recordmill.compat.mxnet.image import rotation


class Rotate(Block):
    """Pictures turned by an angle; their size stays."""

    def __init__(self, rotation_degrees: float, zoom_in: bool = False, zoom_out: bool = False) -> None:
        self._args = (rotation_degrees, zoom_in, zoom_out)

    def forward(self, x: Any) -> Any:
        """Turn float32 pictures, channels first."""
        return rotation.imrotate(_floats(x), *self._args)


class RandomRotation(Block):
    """Pictures turned by angles that `numpy.random` draws."""

    def __init__(
        self,
        angle_limits: Sequence[float],
        zoom_in: bool = False,
        zoom_out: bool = False,
        rotate_with_proba: float = 1.0,
    ) -> None:
        lower, upper = angle_limits
        if lower >= upper:
            raise ValueError("`angle_limits` must be an ordered tuple")
        if not 0 <= rotate_with_proba <= 1:
            raise ValueError("Probability of rotating the image should be between 0 and 1")
        self._args, self._share = (angle_limits, zoom_in, zoom_out), rotate_with_proba

    def forward(self, x: Any) -> Any:
        """Turn float32 pictures, channels first, or not."""
        if np.random.random() > self._share:  # noqa: NPY002 (np.random.seed repeats it)
            return x
        return rotation.random_rotate(_floats(x), *self._args)


def _floats(x: Any) -> Any:
    if x.dtype != np.float32:
        raise TypeError("This transformation only supports float32. Consider calling it after ToTensor")
    return x
