"""``tf.compat.v1.image``: TensorFlow 1's resizing; everything else as in ``tf.image``."""

from __future__ import annotations

from typing import Any

from recordmill.compat.tensorflow import image
from recordmill.compat.tensorflow.images.older_resizing import (
    ResizeMethod,
    resize,
)

__all__ = ["ResizeMethod", "resize"]
# Of the older sampling there is no more than the two above; the newer functions would give other pixels.
_REFUSED = ("resize_area", "resize_bicubic")


def __getattr__(name: str) -> Any:
    """Everything that kept its meaning."""
    if name in _REFUSED:
        raise AttributeError(f"tf.compat.v1.image.{name} is not supported: use tf.image.resize")
    return getattr(image, name)
