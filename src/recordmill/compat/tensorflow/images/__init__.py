"""``tf.image`` and the pictures of ``tf.io``: decoding, encoding, geometry and colours of images."""
