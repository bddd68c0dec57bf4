"""``tf.ragged``."""

from __future__ import annotations

from recordmill.compat.tensorflow.core.lazy import lazy, table

MEMBERS = table(
    {
        "@ragged": "range stack",
        "core.ragged": "RaggedTensor",
        "core.ragged_making": "map_flat_values",
        "core.ragged_ops": "constant",
    }
)
__getattr__, __dir__ = lazy(__name__, MEMBERS)
