"""``tf.random.experimental``: older names of seeds that are made of seeds."""

from __future__ import annotations

from recordmill.compat.tensorflow.core.lazy import lazy
from recordmill.compat.tensorflow.ops.names import table

# module: the names that come from it
MEMBERS = table(
    {
        "ops.drawing": "stateless_fold_in:fold_in stateless_split:split",
        "ops.distributions": "stateless_shuffle",
        "ops.generators": "Generator get_global_generator set_global_generator",
    }
)
__getattr__, __dir__ = lazy(__name__, MEMBERS, face="random.experimental")
