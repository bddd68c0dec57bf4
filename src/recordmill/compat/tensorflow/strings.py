"""``tf.strings``: operations on byte strings."""

from __future__ import annotations

from recordmill.compat.tensorflow.core.lazy import lazy, map_names

MEMBERS = map_names(
    {
        "@strings": "as_string bytes_split join length lower reduce_join regex_full_match regex_replace split strip "
        "substr to_hash_bucket_fast to_number unicode_decode upper",
    }
)
__getattr__, __dir__ = lazy(__name__, MEMBERS)
