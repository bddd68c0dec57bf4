"""``tensorflow.python.platform.gfile``: the names of ``tf.gfile``."""

from recordmill.compat.tensorflow.python import make_module_getattr

__getattr__ = make_module_getattr(__name__, "gfile")
