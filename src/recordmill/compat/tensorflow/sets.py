"""``tf.sets``: the last axis of tensors as sets."""

from __future__ import annotations

from recordmill.compat.tensorflow.core.absent import missing
from recordmill.compat.tensorflow.ops.sets import difference, intersection, size, union

__all__ = ["difference", "intersection", "size", "union"]
__getattr__ = missing(__name__)
