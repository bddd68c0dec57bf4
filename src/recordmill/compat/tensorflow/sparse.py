"""``tf.sparse``: sparse tensors as parsing gives them."""

from recordmill.compat.tensorflow.core.sparse import SparseTensor, to_dense

__all__ = ["SparseTensor", "to_dense"]
