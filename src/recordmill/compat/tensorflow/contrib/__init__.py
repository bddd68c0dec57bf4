"""``tf.contrib`` of TensorFlow 1: ``tf.contrib.data`` and ``tf.contrib.lookup``."""

from __future__ import annotations

from recordmill.compat.tensorflow.core.lazy import make_lazy_attributes

__getattr__, __dir__ = make_lazy_attributes(__name__, {}, {"data": "contrib.data", "lookup": "contrib.lookup"})
