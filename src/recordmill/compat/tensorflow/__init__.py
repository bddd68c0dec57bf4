"""TensorFlow's names for records, images and data sets: ``import recordmill.compat.tensorflow as tf``."""

from __future__ import annotations

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
from recordmill.compat.tensorflow.core.tensor import Tensor
from recordmill.compat.tensorflow.ops.names import TOP as OPERATIONS

bool = bool_  # noqa: A001 (TensorFlow's name)
# name: the module that has it, imported when the name is first used
MODULES: dict[str, str] = {
    "dtypes": "core.dtypes",
    "errors": "core.errors",
    "io": "io",
    # records and files
    "compat": "compat",
    "gfile": "gfile",
    "python_io": "python_io",
    "ragged": "ragged",
    "sparse": "sparse",
    "train": "train",
    # Keras
    "initializers": "keras.initializers",
    "keras": "keras",
    "losses": "keras.losses",
    "metrics": "keras.metrics",
    "optimizers": "keras.optimizers",
}
MEMBERS: dict[str, str] = {
    **OPERATIONS,
    # records and files
    "RaggedTensor": "core.ragged",
    "SparseTensor": "core.sparse",
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
