"""``tf.python_io``: TensorFlow 1's functions and classes for TFRecord files."""

from recordmill.compat.tensorflow.io.records import (
    TFRecordCompressionType,
    TFRecordOptions,
    TFRecordWriter,
    tf_record_iterator,
)

__all__ = ["TFRecordCompressionType", "TFRecordOptions", "TFRecordWriter", "tf_record_iterator"]
