"""``tf.math``."""

from __future__ import annotations

from recordmill.compat.tensorflow.core.lazy import lazy
from recordmill.compat.tensorflow.ops.names import table

# module: the names that come from it
MEMBERS = table(
    {
        "ops.activations": "log_softmax softmax softplus",
        "ops.arithmetic": "abs add add_n atan2 divide divide_no_nan floordiv floormod maximum minimum mod:floormod "
        "multiply multiply_no_nan negative pow scalar_mul:multiply squared_difference subtract "
        "truediv",
        "ops.comparing": "equal greater greater_equal is_finite is_inf is_nan less less_equal logical_and "
        "logical_not logical_or logical_xor not_equal",
        "ops.confusion": "confusion_matrix",
        "ops.complexes": "angle conj imag real",
        "ops.counting": "bincount in_top_k",
        "ops.elementwise": "acos asin atan ceil cos cosh cumprod cumsum exp expm1 floor log log1p reciprocal rint "
        "round rsqrt sigmoid sign sin sinh sqrt square tan tanh",
        "ops.matrices": "l2_normalize",
        "ops.partitions": "invert_permutation",
        "ops.ratios": "acosh asinh atanh erf is_non_decreasing is_strictly_increasing log_sigmoid polyval "
        "reciprocal_no_nan softsign xdivy xlog1py xlogy zero_fraction",
        "ops.reducing": "reduce_all reduce_any reduce_euclidean_norm reduce_logsumexp reduce_max reduce_mean "
        "reduce_min reduce_prod reduce_std reduce_sum reduce_variance",
        "ops.segments": "segment_max segment_mean segment_min segment_prod segment_sum unsorted_segment_max "
        "unsorted_segment_mean unsorted_segment_min unsorted_segment_prod unsorted_segment_sqrt_n unsorted_segment_sum",
        "ops.sorting": "argmax argmin count_nonzero top_k",
    }
)
__getattr__, __dir__ = lazy(__name__, MEMBERS)
