"""``tensorflow.python.ops.parsing_ops``: operations by their names in ``tf.io`` and ``tf``."""

from recordmill.compat.tensorflow.python import find_in

__getattr__ = find_in(__name__, "io", "")
