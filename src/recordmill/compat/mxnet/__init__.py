"""MXNet's names for records, images and iterators: ``import recordmill.compat.mxnet as mx``."""

from __future__ import annotations

import importlib
import sys

from recordmill.compat.mxnet import base, context, gluon, image, io, nd, random, recordio
from recordmill.compat.mxnet.base import MXNetError, create_module_getattr
from recordmill.compat.mxnet.context import Context, cpu, gpu

importlib.import_module(f"{__name__}.nd.image")
img, ndarray, rnd = image, nd, random
sys.modules[f"{__name__}.ndarray"] = nd  # Supports ``import mxnet.ndarray as nd``.

# Version of MXNet whose interface this package provides.
__version__ = "1.9.1"

_TRAINING = (
    "autograd callback contrib executor init initializer kv kvstore lr_scheduler metric mod model module monitor "
    "operator opt optimizer rnn rtc sym symbol visualization viz"
)
__getattr__ = create_module_getattr(
    __name__,
    {
        **dict.fromkeys(_TRAINING.split(), "train with Keras, PyTorch or JAX"),
        "current_context": "use mx.cpu()",
        "np": "use NumPy",
        "npx": "use NumPy",
        "profiler": "use loader.stats() of rm.open(...).loader()",
        "test_utils": "use numpy.testing",
    },
)
