"""MXNet's names for records, images and their iterators: ``import recordmill.compat.mxnet as mx``."""

from __future__ import annotations

from recordmill.compat.mxnet import base, context, io, nd, recordio
from recordmill.compat.mxnet.base import MXNetError
from recordmill.compat.mxnet.context import Context, cpu, cpu_pinned, current_context, gpu

ndarray = nd

__all__ = [
    "Context",
    "MXNetError",
    "base",
    "context",
    "cpu",
    "cpu_pinned",
    "current_context",
    "gpu",
    "io",
    "nd",
    "ndarray",
    "recordio",
]
