"""OneFlow's names for reading records: ``import recordmill.compat.oneflow as flow``."""

from recordmill.compat.oneflow import data, environment as env, image, nn, random, record_pb2, scope, typing
from recordmill.compat.oneflow.absent import absent
from recordmill.compat.oneflow.jobs import FunctionConfig, function_config, global_function
from recordmill.compat.oneflow.tensors import Tensor, TensorBuffer, tensor_buffer_to_tensor
from recordmill.compat.oneflow.types import (
    double,
    float,  # noqa: A004 (OneFlow's name)
    float32,
    float64,
    int8,
    int32,
    int64,
    of_record,
    tensor_buffer,
    uint8,
)

__getattr__ = absent("flow")

__all__ = [
    "FunctionConfig",
    "Tensor",
    "TensorBuffer",
    "data",
    "double",
    "env",
    "float",
    "float32",
    "float64",
    "function_config",
    "global_function",
    "image",
    "int8",
    "int32",
    "int64",
    "nn",
    "of_record",
    "random",
    "record_pb2",
    "scope",
    "tensor_buffer",
    "tensor_buffer_to_tensor",
    "typing",
    "uint8",
]
