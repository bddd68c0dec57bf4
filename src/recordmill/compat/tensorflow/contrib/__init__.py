"""``tf.contrib``: what TensorFlow 1's programs read data with; the rest of it belonged to networks."""

from __future__ import annotations

from recordmill.compat.tensorflow.core.lazy import lazy

__getattr__, __dir__ = lazy(__name__, {}, {"data": "contrib.data", "lookup": "contrib.lookup"})
