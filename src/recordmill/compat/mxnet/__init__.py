"""MXNet's names for records, images and their iterators: ``import recordmill.compat.mxnet as mx``."""

from __future__ import annotations

from recordmill.compat.mxnet import base, context, image, io, nd, recordio
from recordmill.compat.mxnet.base import MXNetError
from recordmill.compat.mxnet.context import Context, cpu, cpu_pinned, current_context, gpu

img, ndarray = image, nd

__all__ = [
    "Context",
    "MXNetError",
    "base",
    "context",
    "cpu",
    "cpu_pinned",
    "current_context",
    "gpu",
    "image",
    "img",
    "io",
    "nd",
    "ndarray",
    "recordio",
]
