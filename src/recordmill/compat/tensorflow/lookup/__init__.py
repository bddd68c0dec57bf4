"""``tf.lookup``: tables from names to numbers, and back."""

from __future__ import annotations

from recordmill.compat.tensorflow.core.lazy import lazy
from recordmill.compat.tensorflow.ops.names import table

# module: the names that come from it
MEMBERS = table(
    {
        "lookup.initializers": "KeyValueTensorInitializer TextFileIndex TextFileInitializer",
        "lookup.static": "StaticHashTable",
        "lookup.vocabulary": "StaticVocabularyTable",
    }
)
__getattr__, __dir__ = lazy(__name__, MEMBERS, {"experimental": "lookup.experimental"})
