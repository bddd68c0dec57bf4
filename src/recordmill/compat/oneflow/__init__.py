"""OneFlow's names for reading records: ``import recordmill.compat.oneflow as flow``."""

from recordmill.compat.oneflow import core, nn, record_pb2, typing
from recordmill.compat.oneflow.functional import data, image, random
from recordmill.compat.oneflow.programs import config, env, global_function, scope
from recordmill.compat.oneflow.tensors import DTYPES
from recordmill.compat.oneflow.unsupported import create_module_getattr

__getattr__ = create_module_getattr("flow", globals())
# The OneFlow version whose behavior is reproduced.
__version__ = "0.9.0"

int8, uint8, int32, int64, float32, float64 = DTYPES.values()
float, double = float32, float64  # noqa: A001 (OneFlow's name)

__all__ = [
    "config",
    "core",
    "data",
    "double",
    "env",
    "float",
    "float32",
    "float64",
    "global_function",
    "image",
    "int8",
    "int32",
    "int64",
    "nn",
    "random",
    "record_pb2",
    "scope",
    "typing",
    "uint8",
]
