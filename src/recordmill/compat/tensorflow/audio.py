"""``tf.audio``."""

from __future__ import annotations

from recordmill.compat.tensorflow.core.lazy import lazy
from recordmill.compat.tensorflow.ops.names import table

# module: the names that come from it
MEMBERS = table({"io.wav": "decode_wav encode_wav"})
__getattr__, __dir__ = lazy(__name__, MEMBERS)
