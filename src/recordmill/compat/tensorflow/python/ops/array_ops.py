"""``tensorflow.python.ops.array_ops``: the operations of ``tf``."""

from recordmill.compat.tensorflow.python import make_module_getattr

__getattr__ = make_module_getattr(__name__, "")
