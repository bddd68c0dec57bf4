"""``tf.nn``: activation functions."""

from __future__ import annotations

from recordmill.compat.tensorflow.core.lazy import lazy, map_names

MEMBERS = map_names(
    {
        "@math": "sigmoid tanh top_k",
        "@nn": "relu softmax",
    }
)
__getattr__, __dir__ = lazy(__name__, MEMBERS)
