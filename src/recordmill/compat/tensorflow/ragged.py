"""``tf.ragged``: creation and mapping of ragged tensors."""

from __future__ import annotations

from recordmill.compat.tensorflow.core.lazy import lazy, map_names

MEMBERS = map_names(
    {
        "core.ragged": "RaggedTensor constant map_flat_values range:range_ stack",
    }
)
__getattr__, __dir__ = lazy(__name__, MEMBERS)
