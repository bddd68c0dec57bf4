"""``tf.random``: the numbers are NumPy's, not TensorFlow's; the same seeds repeat them."""

from __future__ import annotations

from types import ModuleType

from recordmill.compat.tensorflow.core.absent import missing
from recordmill.compat.tensorflow.core.lazy import lazy, table
from recordmill.compat.tensorflow.ops.random import fold_in, split

MEMBERS = table(
    {
        "@random": "categorical fold_in gamma normal shuffle split stateless_normal stateless_uniform truncated_normal "
        "uniform",
        "core.draws": "set_seed",
    }
)
__getattr__, __dir__ = lazy(__name__, MEMBERS)

experimental = ModuleType(f"{__name__}.experimental", "``tf.random.experimental``.")
experimental.__dict__.update(
    stateless_fold_in=fold_in, stateless_split=split, __getattr__=missing(experimental.__name__)
)
