"""``tf.strings``."""

from __future__ import annotations

from recordmill.compat.tensorflow.core.lazy import lazy
from recordmill.compat.tensorflow.ops.names import table

# module: the names that come from it
MEMBERS = table(
    {
        "ops.numerals": "as_string format to_number",
        "ops.patterns": "regex_full_match regex_replace",
        "ops.characters": "unicode_decode_with_offsets unicode_encode unicode_split_with_offsets unicode_transcode",
        "ops.hashes": "to_hash_bucket to_hash_bucket_fast to_hash_bucket_strong",
        "ops.ngrams": "ngrams",
        "ops.pieces": "bytes_split split unicode_decode unicode_split",
        "ops.texts": "join length lower reduce_join strip substr unsorted_segment_join upper",
    }
)
__getattr__, __dir__ = lazy(__name__, MEMBERS)
