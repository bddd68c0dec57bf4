"""``tf.linalg``: products, norms and inverses of matrices."""

from __future__ import annotations

from recordmill.compat.tensorflow.core.lazy import lazy, map_names

MEMBERS = map_names(
    {
        "@linalg": "einsum inv matmul norm",
    }
)
__getattr__, __dir__ = lazy(__name__, MEMBERS)
