"""``mx.gluon``: datasets, transforms and loaders."""

from __future__ import annotations

from recordmill.compat.mxnet.absent import absent
from recordmill.compat.mxnet.gluon import data, utils
from recordmill.compat.mxnet.gluon.block import Block, HybridBlock

__getattr__ = absent(__name__, {}, "train with Keras, PyTorch or JAX")
