"""``tensorflow.python.ops.parsing_ops``: the operations of ``tf.io`` and ``tf``."""

from recordmill.compat.tensorflow.python import make_module_getattr

__getattr__ = make_module_getattr(__name__, "io", "")
