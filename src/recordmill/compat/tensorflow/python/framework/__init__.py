"""``tensorflow.python.framework``: alias of ``tf.dtypes``."""
