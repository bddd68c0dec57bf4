"""``tensorflow.python.framework.dtypes``: the names of ``tf.dtypes``."""

from recordmill.compat.tensorflow.python import make_module_getattr

__getattr__ = make_module_getattr(__name__, "dtypes")
