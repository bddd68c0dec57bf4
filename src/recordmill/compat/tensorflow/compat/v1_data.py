"""``tf.compat.v1.data``: TensorFlow 1's iterators, and the names of ``tf.data``."""

from __future__ import annotations

from typing import Any

from recordmill.compat.tensorflow import data
from recordmill.compat.tensorflow.data.legacy import (
    create_initializable_iterator,
    create_one_shot_iterator,
    output_shapes_of as get_output_shapes,
    output_types_of as get_output_types,
)

__all__ = ["get_output_shapes", "get_output_types", "make_initializable_iterator", "make_one_shot_iterator"]


def make_one_shot_iterator(dataset: Any) -> Any:
    """Create an iterator that returns elements in eager mode, and symbolic tensors for sessions in graph mode."""
    return create_one_shot_iterator(dataset, is_eager_by_default=True)


def make_initializable_iterator(dataset: Any, shared_name: str | None = None) -> Any:
    """Create an iterator that returns symbolic tensors for sessions. Its initializer restarts the iterator."""
    del shared_name
    return create_initializable_iterator(dataset, is_eager_by_default=True)


def __getattr__(name: str) -> Any:
    return getattr(data, name)
