"""``tf.lookup``: immutable lookup tables and their initializers."""

from __future__ import annotations

from recordmill.compat.tensorflow.core.lazy import make_lazy_attributes, map_names_to_sources

MEMBERS = map_names_to_sources(
    {
        "lookup.tables": "KeyValueTensorInitializer StaticHashTable StaticVocabularyTable TextFileIndex "
        "TextFileInitializer"
    }
)
__getattr__, __dir__ = make_lazy_attributes(__name__, MEMBERS)
