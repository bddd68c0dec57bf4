"""``tf.random``: numbers are NumPy's, the same seeds repeat them."""

from __future__ import annotations

from recordmill.compat.tensorflow.core.lazy import lazy
from recordmill.compat.tensorflow.ops.names import table

# module: the names that come from it
MEMBERS = table(
    {
        "core.draws": "set_seed",
        "ops.candidates": "log_uniform_candidate_sampler uniform_candidate_sampler",
        "ops.distributions": "gamma poisson stateless_binomial stateless_categorical stateless_gamma stateless_poisson "
        "stateless_truncated_normal",
        "ops.drawing": "categorical fold_in normal shuffle split stateless_normal "
        "stateless_uniform truncated_normal uniform",
        "ops.generators": "Generator get_global_generator set_global_generator",
    }
)
__getattr__, __dir__ = lazy(__name__, MEMBERS, {"experimental": "ops.older_random"})
