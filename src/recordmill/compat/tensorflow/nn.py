"""``tf.nn``: what pipelines use of it."""

from __future__ import annotations

from recordmill.compat.tensorflow.core.lazy import lazy
from recordmill.compat.tensorflow.ops.names import table

# module: the names that come from it
MEMBERS = table(
    {
        "ops.activations": "leaky_relu log_softmax moments relu relu6 softmax softplus",
        "ops.convolving": "conv1d conv2d depthwise_conv2d",
        "ops.elementwise": "sigmoid tanh",
        "ops.losses": "dropout elu embedding_lookup gelu l2_loss selu sigmoid_cross_entropy_with_logits silu "
        "softmax_cross_entropy_with_logits sparse_softmax_cross_entropy_with_logits swish",
        "ops.matrices": "l2_normalize",
        "ops.pooling": "avg_pool:avg_pool2d avg_pool2d depth_to_space max_pool:max_pool2d max_pool2d space_to_depth",
        "ops.counting": "in_top_k",
        "ops.ratios": "softsign zero_fraction",
        "ops.sorting": "top_k",
    }
)
__getattr__, __dir__ = lazy(__name__, MEMBERS)
