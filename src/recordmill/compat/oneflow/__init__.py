"""OneFlow's names for reading records: ``import recordmill.compat.oneflow as flow``."""

import contextlib

from recordmill.compat.oneflow import (
    config,
    core,
    data,
    environment as env,
    image,
    nn,
    random,
    record_pb2,
    scope,
    typing,
)
from recordmill.compat.oneflow.absent import absent
from recordmill.compat.oneflow.dtypes import (
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
from recordmill.compat.oneflow.functions import FunctionConfig, function_config, global_function
from recordmill.compat.oneflow.tensors import Tensor, TensorBuffer, tensor_buffer_to_tensor

__getattr__ = absent("flow")
# The version whose behaviour this is.
__version__ = "0.9.0"


def no_grad() -> contextlib.ContextDecorator:
    """For ``with``, or a decorator: there are no gradients anyway."""
    return contextlib.nullcontext()  # type: ignore[return-value]


def enable_eager_execution(val: bool = True) -> None:
    """Nothing: functions run when they are called."""


def clear_default_session() -> None:
    """Nothing: there is no session."""


__all__ = [
    "FunctionConfig",
    "Tensor",
    "TensorBuffer",
    "clear_default_session",
    "config",
    "core",
    "data",
    "double",
    "enable_eager_execution",
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
    "no_grad",
    "of_record",
    "random",
    "record_pb2",
    "scope",
    "tensor_buffer",
    "tensor_buffer_to_tensor",
    "typing",
    "uint8",
]
