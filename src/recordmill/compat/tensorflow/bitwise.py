"""``tf.bitwise``."""

from __future__ import annotations

from recordmill.compat.tensorflow.core.lazy import lazy
from recordmill.compat.tensorflow.ops.names import table

# module: the names that come from it
MEMBERS = table(
    {
        "ops.bits": "bitwise_and bitwise_or bitwise_xor invert left_shift right_shift",
    }
)
__getattr__, __dir__ = lazy(__name__, MEMBERS)
