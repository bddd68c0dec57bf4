"""Operations of ``tf.image`` and the image codecs of ``tf.io``."""
