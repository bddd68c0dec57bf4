"""``tf.sparse``: sparse tensors and operations on them."""

from __future__ import annotations

from recordmill.compat.tensorflow.core.lazy import lazy, map_names

MEMBERS = map_names(
    {
        "@sparse": "from_dense reorder reshape slice to_dense",
        "core.sparse": "SparseTensor",
    }
)
__getattr__, __dir__ = lazy(__name__, MEMBERS)
