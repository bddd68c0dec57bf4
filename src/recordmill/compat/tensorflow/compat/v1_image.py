"""``tf.compat.v1.image``: TensorFlow 1's resizing; everything else as in ``tf.image``."""

from __future__ import annotations

from typing import Any

from recordmill.compat.tensorflow import image
from recordmill.compat.tensorflow.images.older_resizing import (
    ResizeMethod,
    resize,
    resize_bilinear,
    resize_nearest_neighbor,
)

__all__ = ["ResizeMethod", "resize", "resize_bilinear", "resize_images", "resize_nearest_neighbor"]
resize_images = resize
# older name: name in tf.image
_RENAMED = {"resize_image_with_crop_or_pad": "resize_with_crop_or_pad", "resize_image_with_pad": "resize_with_pad"}
# Of the older sampling there is no more than the two above; the newer functions would give other pixels.
_REFUSED = ("resize_area", "resize_bicubic")


def __getattr__(name: str) -> Any:
    """Everything that kept its meaning."""
    if name in _REFUSED:
        raise AttributeError(f"tf.compat.v1.image.{name} is not supported: use tf.image.resize")
    return getattr(image, _RENAMED.get(name, name))
