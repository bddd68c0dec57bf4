"""OneFlow's names for reading records: ``import recordmill.compat.oneflow as flow``."""

from recordmill.compat.oneflow import core, nn, record_pb2, typing
from recordmill.compat.oneflow.functional import data, image, random
from recordmill.compat.oneflow.global_function import global_function, placement
from recordmill.compat.oneflow.reader import get_rank, get_world_size
from recordmill.compat.oneflow.tensors import DTYPES
from recordmill.compat.oneflow.unsupported import absent, namespace

__getattr__ = absent("flow")
# The OneFlow version whose behavior is reproduced.
__version__ = "0.9.0"

int8, uint8, int32, int64, float32, float64 = DTYPES.values()
float, double = float32, float64  # noqa: A001 (OneFlow's name)

env = namespace("flow.env", {"get_rank": get_rank, "get_world_size": get_world_size})
# The number of GPUs has no effect: records are read on the CPU.
config = namespace("flow.config", {"gpu_device_num": lambda _val: None})
scope = namespace("flow.scope", {"placement": placement})

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
