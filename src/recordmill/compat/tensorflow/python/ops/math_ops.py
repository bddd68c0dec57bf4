"""``tensorflow.python.ops.math_ops``: operations by their names in ``tf.math`` and ``tf``."""

from recordmill.compat.tensorflow.python import find_in

__getattr__ = find_in(__name__, "math", "")
