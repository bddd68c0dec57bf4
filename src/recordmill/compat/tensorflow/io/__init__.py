"""``tf.io``: read and write files and records, parse features, and encode and decode images."""

from __future__ import annotations

from recordmill.compat.tensorflow.core.lazy import make_lazy_attributes

# Maps each public name to the module that defines it.
MEMBERS: dict[str, str] = {
    # Files, records and features of records.
    "FixedLenFeature": "io.features",
    "FixedLenSequenceFeature": "io.features",
    "RaggedFeature": "io.features",
    "SparseFeature": "io.features",
    "TFRecordCompressionType": "io.records",
    "TFRecordOptions": "io.records",
    "TFRecordWriter": "io.records",
    "VarLenFeature": "io.features",
    "decode_compressed": "io.raw",
    "decode_csv": "io.csv_lines",
    "decode_raw": "io.raw",
    "matching_files": "files.contents",
    "parse_example": "io.parsing",
    "parse_sequence_example": "io.sequences",
    "parse_single_example": "io.parsing",
    "parse_single_sequence_example": "io.sequences",
    "parse_tensor": "io.tensor_protos",
    "read_file": "files.contents",
    "serialize_tensor": "io.tensor_protos",
    "tf_record_iterator": "io.records",
    "write_file": "files.contents",
    # Encoded images.
    "decode_and_crop_jpeg": "images.decode",
    "decode_image": "images.decode",
    "decode_jpeg": "images.decode",
    "decode_png": "images.decode",
    "encode_jpeg": "images.encode",
    "encode_png": "images.encode",
    "extract_jpeg_shape": "images.decode",
    "is_jpeg": "images.decode",
}
__getattr__, __dir__ = make_lazy_attributes(__name__, MEMBERS, {"gfile": "files.gfile"})
