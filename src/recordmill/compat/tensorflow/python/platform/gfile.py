"""``tensorflow.python.platform.gfile``: the names of ``tf.gfile``."""

from recordmill.compat.tensorflow.python import find_in

__getattr__ = find_in(__name__, "gfile")
