"""``tf.compat.v1.image``: TensorFlow 1's ``resize``, and all other names of ``tf.image``."""

from __future__ import annotations

from typing import Any

from recordmill.compat.tensorflow import image
from recordmill.compat.tensorflow.images.resize_v1 import ResizeMethod, resize

__all__ = ["ResizeMethod", "resize"]


def __getattr__(name: str) -> Any:
    return getattr(image, name)
