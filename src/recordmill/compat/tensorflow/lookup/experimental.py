"""``tf.lookup.experimental``."""

from __future__ import annotations

from recordmill.compat.tensorflow.core.lazy import lazy
from recordmill.compat.tensorflow.ops.names import table

MEMBERS = table({"lookup.changing": "DenseHashTable MutableHashTable"})
__getattr__, __dir__ = lazy(__name__, MEMBERS)
