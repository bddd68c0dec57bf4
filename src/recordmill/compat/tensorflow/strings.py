"""``tf.strings``: operations on byte strings."""

from __future__ import annotations

from recordmill.compat.tensorflow.core.lazy import make_lazy_attributes, map_names_to_sources

MEMBERS = map_names_to_sources(
    {
        "@strings": "as_string bytes_split join length lower reduce_join regex_full_match regex_replace split strip "
        "substr to_hash_bucket_fast to_number unicode_decode upper",
    }
)
__getattr__, __dir__ = make_lazy_attributes(__name__, MEMBERS)
