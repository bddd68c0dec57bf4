"""``tf.lookup``: immutable lookup tables and their initializers."""

from __future__ import annotations

from recordmill.compat.tensorflow.core.lazy import lazy, map_names

MEMBERS = map_names(
    {
        "lookup.tables": "KeyValueTensorInitializer StaticHashTable StaticVocabularyTable TextFileIndex "
        "TextFileInitializer"
    }
)
__getattr__, __dir__ = lazy(__name__, MEMBERS)
