"""``tensorflow.python.ops.array_ops``: operations by their names in ``tf``."""

from recordmill.compat.tensorflow.python import make_module_getattr

__getattr__ = make_module_getattr(__name__, "")
