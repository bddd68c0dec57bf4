"""``tf.test``: what programs ask about the machine before they begin."""

from __future__ import annotations

from typing import Any

from recordmill.compat.tensorflow.core.absent import missing

__all__ = ["gpu_device_name", "is_built_with_cuda", "is_built_with_gpu_support", "is_gpu_available"]
__getattr__ = missing(__name__)


def is_gpu_available(cuda_only: bool = False, min_cuda_compute_capability: Any = None) -> bool:
    """Whether records and images are worked on by a graphics processor: they are not."""
    del cuda_only, min_cuda_compute_capability
    return False


def is_built_with_cuda() -> bool:
    """Whether the package has code for graphics processors: it has none."""
    return False


is_built_with_gpu_support = is_built_with_cuda


def gpu_device_name() -> str:
    """Name of the graphics processor in use; empty: there is none."""
    return ""
