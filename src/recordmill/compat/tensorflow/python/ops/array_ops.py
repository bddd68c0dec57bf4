"""``tensorflow.python.ops.array_ops``: operations by their names in ``tf``."""

from recordmill.compat.tensorflow.python import find_in

__getattr__ = find_in(__name__, "")
