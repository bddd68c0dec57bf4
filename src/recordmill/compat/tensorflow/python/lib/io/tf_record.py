"""``tensorflow.python.lib.io.tf_record``: the names of ``tf.python_io``."""

from recordmill.compat.tensorflow.python import find_in

__getattr__ = find_in(__name__, "python_io")
