"""``tf.image.adjust_jpeg_quality``: what JPEG loses, for training."""

from __future__ import annotations

from typing import Any

import numpy as np

from recordmill.compat.tensorflow.core.arrays import array_of
from recordmill.compat.tensorflow.core.dispatch import op
from recordmill.compat.tensorflow.core.tensor import Tensor
from recordmill.compat.tensorflow.images.checks import check_numbers, whole
from recordmill.compat.tensorflow.images.encoding import jpeg_of
from recordmill.compat.tensorflow.images.jpeg import JpegOptions, jpeg_pixels
from recordmill.compat.tensorflow.images.levels import converted_levels


@op("image.adjust_jpeg_quality")
def adjust_jpeg_quality(image: Any, jpeg_quality: Any, dct_method: str = "", name: str | None = None) -> Tensor:
    """Encode as JPEG and decode again."""
    values = array_of(image)
    check_numbers(values)
    levels = converted_levels(values, np.dtype(np.uint8), saturate=True)
    channels = levels.shape[-1] if levels.ndim else 0
    encoded = jpeg_of(levels, quality=whole(jpeg_quality))
    decoded = jpeg_pixels(encoded, channels, JpegOptions(dct_method=dct_method))
    return Tensor(converted_levels(decoded, values.dtype, saturate=True))
