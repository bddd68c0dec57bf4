"""``tf.io.gfile``, ``tf.io.read_file`` and other functions of files."""
