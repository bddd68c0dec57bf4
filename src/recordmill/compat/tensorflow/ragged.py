"""``tf.ragged``: rows of different lengths as parsing gives them."""

from recordmill.compat.tensorflow.core.absent import missing
from recordmill.compat.tensorflow.core.ragged import RaggedTensor
from recordmill.compat.tensorflow.core.ragged_making import map_flat_values, range_, stack
from recordmill.compat.tensorflow.core.ragged_ops import constant

range = range_  # noqa: A001 (TensorFlow's name)
__all__ = ["RaggedTensor", "constant", "map_flat_values", "range", "stack"]
__getattr__ = missing(__name__)
