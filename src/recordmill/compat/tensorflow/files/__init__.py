"""``tf.io.gfile``, ``tf.io.read_file`` and other functions that read, write and list files."""
