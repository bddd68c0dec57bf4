"""MXNet's names for records, images and their iterators: ``import recordmill.compat.mxnet as mx``."""

from __future__ import annotations

import importlib
import sys

from recordmill.compat.mxnet import base, context, gluon, image, io, nd, random, recordio
from recordmill.compat.mxnet.absent import absent
from recordmill.compat.mxnet.base import MXNetError
from recordmill.compat.mxnet.context import Context, cpu, cpu_pinned, current_context, gpu

importlib.import_module(f"{__name__}.nd.image")
img, ndarray, rnd = image, nd, random
sys.modules[f"{__name__}.ndarray"] = nd  # import mxnet.ndarray as nd
# The version whose behaviour this is.
__version__ = "1.9.1"

_TRAIN = "train with Keras, PyTorch or JAX: see the guides"
_LEARNING = [
    "autograd",
    "callback",
    "init",
    "initializer",
    "lr_scheduler",
    "metric",
    "mod",
    "module",
    "model",
    "monitor",
    "optimizer",
    "opt",
    "rtc",
]
__getattr__ = absent(
    __name__,
    {
        **dict.fromkeys(_LEARNING, _TRAIN),
        **dict.fromkeys(
            ["sym", "symbol", "executor", "viz", "visualization", "contrib", "operator", "rnn", "kv", "kvstore"], _TRAIN
        ),
        "np": "use NumPy",
        "npx": "use NumPy",
        "profiler": "ask loader.stats() of rm.open(...).loader()",
        "test_utils": "use numpy.testing",
    },
)

__all__ = [
    "Context",
    "MXNetError",
    "base",
    "context",
    "cpu",
    "cpu_pinned",
    "current_context",
    "gluon",
    "gpu",
    "image",
    "img",
    "io",
    "nd",
    "ndarray",
    "random",
    "recordio",
    "rnd",
]
