"""``mx.gluon``: datasets, transforms and loaders."""

from __future__ import annotations

from recordmill.compat.mxnet.base import create_module_getattr
from recordmill.compat.mxnet.gluon import data, utils

_BLOCK_HINT = "use any callable as a transform"
__getattr__ = create_module_getattr(
    __name__, {"Block": _BLOCK_HINT, "HybridBlock": _BLOCK_HINT}, "train with Keras, PyTorch or JAX"
)
