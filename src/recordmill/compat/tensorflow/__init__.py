"""TensorFlow's names for records, images and data sets: ``import recordmill.compat.tensorflow as tf``."""

from __future__ import annotations

from recordmill.compat.tensorflow.core.asked import Tensor
from recordmill.compat.tensorflow.core.dtypes import (
    DType,
    as_dtype,
    bool_,
    double,
    float16,
    float32,
    float64,
    half,
    int8,
    int16,
    int32,
    int64,
    string,
    uint8,
    uint16,
    uint32,
    uint64,
)
from recordmill.compat.tensorflow.core.lazy import lazy
from recordmill.compat.tensorflow.core.shapes import TensorShape
from recordmill.compat.tensorflow.ops.names import TOP as OPERATIONS

bool = bool_  # noqa: A001 (TensorFlow's name)
# name: the module that has it, imported when the name is first used
MODULES: dict[str, str] = {
    "autograph": "autograph",
    "bitwise": "bitwise",
    "compat": "compat",
    "config": "config",
    "data": "data",
    "debugging": "debugging",
    "distribute": "distribute",
    "dtypes": "dtypes",
    "errors": "core.errors",
    "experimental": "experimental",
    "gfile": "gfile",
    "image": "image",
    "initializers": "keras.initializers",
    "io": "io",
    "keras": "keras",
    "linalg": "linalg",
    "logging": "logging",
    "lookup": "lookup",
    "losses": "keras.losses",
    "math": "math",
    "metrics": "keras.metrics",
    "nest": "ops.trees",
    "nn": "nn",
    "optimizers": "keras.optimizers",
    "python_io": "python_io",
    "ragged": "ragged",
    "random": "random",
    "sparse": "sparse",
    "strings": "strings",
    "test": "test",
    "train": "train",
    "version": "version",
}
MEMBERS: dict[str, str] = {
    **OPERATIONS,
    "FixedLenFeature": "io.features",
    "FixedLenSequenceFeature": "io.features",
    "RaggedTensor": "core.ragged",
    "SparseFeature": "io.features",
    "SparseTensor": "core.sparse",
    "VarLenFeature": "io.features",
    "Variable": "core.variable",
    "decode_csv": "io.csv_lines",
    "decode_raw": "io.raw",
    "get_logger": "logging",
    "matching_files": "files.whole",
    "parse_example": "io.parsing_v1",
    "parse_single_example": "io.parsing_v1",
    "parse_single_sequence_example": "io.sequences",
    "parse_tensor": "io.tensor_protos",
    "read_file": "files.whole",
    "serialize_tensor": "io.tensor_protos",
    "write_file": "files.whole",
}
__getattr__, __dir__ = lazy(__name__, MEMBERS, MODULES)

__all__ = [
    "DType",
    "Tensor",
    "TensorShape",
    "as_dtype",
    "bool",
    "double",
    "float16",
    "float32",
    "float64",
    "half",
    "int8",
    "int16",
    "int32",
    "int64",
    "string",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
]
