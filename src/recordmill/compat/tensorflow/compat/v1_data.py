"""``tf.compat.v1.data``: iterators as TensorFlow 1 made them; everything else as in ``tf.data``."""

from __future__ import annotations

from typing import Any

from recordmill.compat.tensorflow import data
from recordmill.compat.tensorflow.graphs.at_once import AtOnce
from recordmill.compat.tensorflow.graphs.iterators import initializable, one_shot
from recordmill.compat.tensorflow.graphs.modes import are_eager
from recordmill.compat.tensorflow.graphs.structures import classes_of, shapes_of, types_of

__all__ = [
    "get_output_classes",
    "get_output_shapes",
    "get_output_types",
    "make_initializable_iterator",
    "make_one_shot_iterator",
]


def make_one_shot_iterator(dataset: Any) -> Any:
    """Iterate over a data set once."""
    return AtOnce(dataset.node) if are_eager(otherwise=True) else one_shot(dataset)


def make_initializable_iterator(dataset: Any, shared_name: str | None = None) -> Any:
    """Iterate over values of a graph, anew after each run of the initializer."""
    del shared_name
    if not are_eager(otherwise=True):
        return initializable(dataset)
    raise RuntimeError(
        "dataset.make_initializable_iterator is not supported when eager execution is enabled. Use `for element in "
        "dataset` instead, or tf.compat.v1.disable_eager_execution() and a session."
    )


def get_output_types(dataset_or_iterator: Any) -> Any:
    """Dtypes of the elements."""
    return types_of(dataset_or_iterator)


def get_output_shapes(dataset_or_iterator: Any) -> Any:
    """Shapes of the elements."""
    return shapes_of(dataset_or_iterator)


def get_output_classes(dataset_or_iterator: Any) -> Any:
    """Classes of the elements."""
    return classes_of(dataset_or_iterator)


def __getattr__(name: str) -> Any:
    """Everything that kept its meaning."""
    return getattr(data, name)
