"""``tf.image.rgb_to_yuv`` and its like: colours as brightness and two differences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from recordmill.compat.tensorflow.core.arrays import array_of
from recordmill.compat.tensorflow.core.dispatch import op
from recordmill.compat.tensorflow.core.errors import InvalidArgumentError
from recordmill.compat.tensorflow.core.tensor import Tensor

# A row for each channel of the input, a column for each of the result.
_TO_YUV = ((0.299, -0.14714119, 0.61497538), (0.587, -0.28886916, -0.51496512), (0.114, 0.43601035, -0.10001026))
_FROM_YUV = ((1, 1, 1), (0, -0.394642334, 2.03206185), (1.13988303, -0.58062185, 0))
_TO_YIQ = ((0.299, 0.59590059, 0.2115), (0.587, -0.27455667, -0.52273617), (0.114, -0.32134392, 0.31119955))
_FROM_YIQ = ((1, 1, 1), (0.95598634, -0.27201283, -1.10674021), (0.6208248, -0.64720424, 1.70423049))


def _turned(images: Any, weights: Sequence[Sequence[float]]) -> Tensor:
    values = array_of(images)
    if not values.ndim or values.shape[-1] != 3 or values.dtype.kind != "f":
        raise InvalidArgumentError(
            f"expected floats of shape (..., 3), found {values.dtype.name} of shape {values.shape} [Op:MatMul]"
        )
    return Tensor(values @ np.array(weights, values.dtype))


@op("image.rgb_to_yuv")
def rgb_to_yuv(images: Any) -> Tensor:
    """Red, green and blue, floats from 0 to 1, as PAL's brightness and differences."""
    return _turned(images, _TO_YUV)


@op("image.yuv_to_rgb")
def yuv_to_rgb(images: Any) -> Tensor:
    """PAL's brightness and differences as red, green and blue."""
    return _turned(images, _FROM_YUV)


@op("image.rgb_to_yiq")
def rgb_to_yiq(images: Any) -> Tensor:
    """Red, green and blue, floats from 0 to 1, as NTSC's brightness and differences."""
    return _turned(images, _TO_YIQ)


@op("image.yiq_to_rgb")
def yiq_to_rgb(images: Any) -> Tensor:
    """NTSC's brightness and differences as red, green and blue."""
    return _turned(images, _FROM_YIQ)
