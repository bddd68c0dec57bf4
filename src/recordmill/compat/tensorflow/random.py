"""``tf.random``: random numbers from NumPy's generators, not TensorFlow's; equal seeds give equal numbers."""

from __future__ import annotations

import sys

from recordmill.compat.tensorflow.core.lazy import make_lazy_attributes, map_names_to_sources

MEMBERS = map_names_to_sources(
    {
        "@random": "categorical fold_in gamma normal shuffle split stateless_fold_in:fold_in stateless_normal "
        "stateless_split:split stateless_uniform truncated_normal uniform",
        "core.random_state": "set_random_seed:set_seed set_seed",
    }
)
__getattr__, __dir__ = make_lazy_attributes(__name__, MEMBERS)

experimental = sys.modules[__name__]
