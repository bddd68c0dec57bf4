"""``tf.distribute.cluster_resolver``: there is no cluster, and programs are told so as by TensorFlow."""

from __future__ import annotations

from typing import Any

from recordmill.compat.tensorflow.core.absent import missing

__all__ = ["TPUClusterResolver"]
__getattr__ = missing(__name__)


class TPUClusterResolver:
    """Finds no TPU."""

    def __init__(self, tpu: Any = None, **options: Any) -> None:
        del options
        if not tpu:
            raise ValueError("Please provide a TPU Name to connect to.")
        raise ValueError(
            f"Could not find TPU {tpu!r}: this package knows none. Use tf.distribute.get_strategy() instead."
        )

    @staticmethod
    def connect(tpu: Any = None, **options: Any) -> TPUClusterResolver:
        """Find no TPU, either."""
        return TPUClusterResolver(tpu, **options)
