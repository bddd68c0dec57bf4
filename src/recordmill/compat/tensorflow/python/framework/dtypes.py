"""``tensorflow.python.framework.dtypes``: the names of ``tf.dtypes``."""

from recordmill.compat.tensorflow.python import find_in

__getattr__ = find_in(__name__, "dtypes")
