"""``tf.ragged``: ragged tensors and operations on them."""

from __future__ import annotations

from recordmill.compat.tensorflow.core.lazy import make_lazy_attributes, map_names_to_sources

MEMBERS = map_names_to_sources(
    {
        "core.ragged": "RaggedTensor constant map_flat_values range:range_ stack",
    }
)
__getattr__, __dir__ = make_lazy_attributes(__name__, MEMBERS)
