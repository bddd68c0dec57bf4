"""``tf.ragged``: rows of different lengths as parsing gives them."""

from recordmill.compat.tensorflow.core.ragged import RaggedTensor
from recordmill.compat.tensorflow.core.ragged_ops import constant

__all__ = ["RaggedTensor", "constant"]
