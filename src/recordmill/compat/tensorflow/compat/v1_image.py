"""``tf.compat.v1.image``: TensorFlow 1's resizing, and the names of ``tf.image``."""

from __future__ import annotations

from typing import Any

from recordmill.compat.tensorflow import image
from recordmill.compat.tensorflow.images.older_resizing import ResizeMethod, resize

__all__ = ["ResizeMethod", "resize"]
# Their pixels differ from those of the functions of the same names in tf.image.
_REFUSED = ("resize_area", "resize_bicubic")


def __getattr__(name: str) -> Any:
    if name in _REFUSED:
        raise AttributeError(f"tf.compat.v1.image.{name} is not supported: use tf.image.resize")
    return getattr(image, name)
