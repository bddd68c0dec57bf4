"""``tf.ragged``: rows of different lengths as parsing gives them."""

from recordmill.compat.tensorflow.core.absent import missing
from recordmill.compat.tensorflow.core.ragged import RaggedTensor, constant, map_flat_values, range_, stack
from recordmill.compat.tensorflow.ops.ragged_masks import (
    boolean_mask,
    row_splits_to_segment_ids,
    segment_ids_to_row_splits,
)

range = range_  # noqa: A001 (TensorFlow's name)
__all__ = [
    "RaggedTensor",
    "boolean_mask",
    "constant",
    "map_flat_values",
    "range",
    "row_splits_to_segment_ids",
    "segment_ids_to_row_splits",
    "stack",
]
__getattr__ = missing(__name__)
