"""``tensorflow.python.ops.math_ops``: the operations of ``tf.math`` and ``tf``."""

from recordmill.compat.tensorflow.python import make_module_getattr

__getattr__ = make_module_getattr(__name__, "math", "")
