"""``mx.gluon``: its data sets, their transformations and loaders; networks are not here."""

from __future__ import annotations

from recordmill.compat.mxnet.absent import absent
from recordmill.compat.mxnet.gluon import data

__all__ = ["data"]
__getattr__ = absent(
    __name__,
    {"utils": "leave it out: arrays lie in the memory of the host; use urllib.request to download"},
    "train with Keras, PyTorch or JAX: see the guides",
)
