"""``tensorflow.python.lib.io.tf_record``: the names of ``tf.python_io``."""

from recordmill.compat.tensorflow.python import make_module_getattr

__getattr__ = make_module_getattr(__name__, "python_io")
