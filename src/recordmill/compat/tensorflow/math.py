"""``tf.math``: elementwise operations and reductions."""

from __future__ import annotations

from recordmill.compat.tensorflow.core.lazy import make_lazy_attributes, map_names_to_sources

MEMBERS = map_names_to_sources(
    {
        "@math": "abs add add_n argmax argmin ceil cos cumsum divide divide_no_nan equal exp floor floordiv floormod "
        "greater greater_equal is_finite is_inf is_nan less less_equal log log1p logical_and logical_not logical_or "
        "logical_xor maximum minimum mod:floormod multiply negative not_equal pow reciprocal reduce_all reduce_any "
        "reduce_max reduce_mean reduce_min reduce_prod reduce_std reduce_sum reduce_variance round rsqrt sigmoid sign "
        "sin sqrt square squared_difference subtract tan tanh top_k truediv",
    }
)
__getattr__, __dir__ = make_lazy_attributes(__name__, MEMBERS)
