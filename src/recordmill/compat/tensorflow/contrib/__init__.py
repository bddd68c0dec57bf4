"""``tf.contrib`` of TensorFlow 1: ``tf.contrib.data`` and ``tf.contrib.lookup``."""

from __future__ import annotations

from recordmill.compat.tensorflow.core.lazy import lazy

__getattr__, __dir__ = lazy(__name__, {}, {"data": "contrib.data", "lookup": "contrib.lookup"})
