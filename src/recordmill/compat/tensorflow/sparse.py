"""``tf.sparse``: sparse tensors as parsing gives them."""

from recordmill.compat.tensorflow.core.absent import missing
from recordmill.compat.tensorflow.core.sparse import SparseTensor, to_dense
from recordmill.compat.tensorflow.core.sparse_making import from_dense, reorder

__all__ = ["SparseTensor", "from_dense", "reorder", "to_dense"]
__getattr__ = missing(__name__)
