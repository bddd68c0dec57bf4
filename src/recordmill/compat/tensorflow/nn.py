"""``tf.nn``: activation functions."""

from __future__ import annotations

from recordmill.compat.tensorflow.core.lazy import make_lazy_attributes, map_names_to_sources

MEMBERS = map_names_to_sources(
    {
        "@math": "sigmoid tanh top_k",
        "@nn": "relu softmax",
    }
)
__getattr__, __dir__ = make_lazy_attributes(__name__, MEMBERS)
