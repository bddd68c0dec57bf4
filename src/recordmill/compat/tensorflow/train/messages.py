"""TensorFlow's protobuf messages ``Example``, ``SequenceExample``, ``TensorProto`` and the messages that they contain.

References
----------
tensorflow/core/example and tensorflow/core/framework (names and numbers of the fields).
"""

from __future__ import annotations

from recordmill.compat.protobuf import Declarations, lazy_messages

_FEATURE: Declarations = {
    "BytesList": [("value", 1, "bytes", "repeated")],
    "FloatList": [("value", 1, "float", "repeated")],
    "Int64List": [("value", 1, "int64", "repeated")],
    "Feature": [
        ("bytes_list", 1, "BytesList", "oneof"),
        ("float_list", 2, "FloatList", "oneof"),
        ("int64_list", 3, "Int64List", "oneof"),
    ],
    "Features": [("feature", 1, "Feature", "map")],
    "FeatureList": [("feature", 1, "Feature", "repeated")],
    "FeatureLists": [("feature_list", 1, "FeatureList", "map")],
}
_EXAMPLE: Declarations = {
    "Example": [("features", 1, "Features", "optional")],
    "SequenceExample": [
        ("context", 1, "Features", "optional"),
        ("feature_lists", 2, "FeatureLists", "optional"),
    ],
}
_TENSOR_SHAPE: Declarations = {
    "TensorShapeProto": [
        ("dim", 2, "TensorShapeProto.Dim", "repeated"),
        ("unknown_rank", 3, "bool", "optional"),
    ],
    "TensorShapeProto.Dim": [("size", 1, "int64", "optional"), ("name", 2, "string", "optional")],
}
_TYPES: Declarations = {
    "DataType": """
        DT_INVALID DT_FLOAT DT_DOUBLE DT_INT32 DT_UINT8 DT_INT16 DT_INT8 DT_STRING DT_COMPLEX64 DT_INT64 DT_BOOL
        DT_QINT8 DT_QUINT8 DT_QINT32 DT_BFLOAT16 DT_QINT16 DT_QUINT16 DT_UINT16 DT_COMPLEX128 DT_HALF DT_RESOURCE
        DT_VARIANT DT_UINT32 DT_UINT64
    """
}
_TENSOR: Declarations = {
    "TensorProto": [
        ("dtype", 1, "DataType", "optional"),
        ("tensor_shape", 2, "TensorShapeProto", "optional"),
        ("version_number", 3, "int32", "optional"),
        ("tensor_content", 4, "bytes", "optional"),
        ("float_val", 5, "float", "repeated"),
        ("double_val", 6, "double", "repeated"),
        ("int_val", 7, "int32", "repeated"),
        ("string_val", 8, "bytes", "repeated"),
        ("scomplex_val", 9, "float", "repeated"),
        ("int64_val", 10, "int64", "repeated"),
        ("bool_val", 11, "bool", "repeated"),
        ("dcomplex_val", 12, "double", "repeated"),
        ("half_val", 13, "int32", "repeated"),
        ("uint32_val", 16, "uint32", "repeated"),
        ("uint64_val", 17, "uint64", "repeated"),
    ],
}

__getattr__, __dir__ = lazy_messages(
    __name__,
    "tensorflow",
    "proto3",
    {
        "tensorflow/core/example/feature.proto": _FEATURE,
        "tensorflow/core/example/example.proto": _EXAMPLE,
        "tensorflow/core/framework/tensor_shape.proto": _TENSOR_SHAPE,
        "tensorflow/core/framework/types.proto": _TYPES,
        "tensorflow/core/framework/tensor.proto": _TENSOR,
    },
)
