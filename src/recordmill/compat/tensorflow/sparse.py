"""``tf.sparse``: sparse tensors as parsing gives them."""

from __future__ import annotations

from recordmill.compat.tensorflow.core.lazy import lazy
from recordmill.compat.tensorflow.ops.names import table

# module: the names that come from it
MEMBERS = table(
    {
        "core.sparse": "SparseTensor from_dense reorder to_dense",
        "ops.sparse_parts": "concat expand_dims fill_empty_rows reduce_sum reset_shape reshape retain slice:slice_ "
        "sparse_dense_matmul split to_indicator transpose",
        "ops.sparse_sums": "add cross eye map_values maximum minimum reduce_max segment_mean segment_sqrt_n "
        "segment_sum softmax",
    }
)
__getattr__, __dir__ = lazy(__name__, MEMBERS)
