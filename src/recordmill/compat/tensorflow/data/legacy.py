"""Methods that datasets had in TensorFlow 1: iterators for sessions, and separate dtypes and shapes of elements."""

from __future__ import annotations

from typing import Any, NoReturn

from recordmill.compat.tensorflow.data.elements import Node
from recordmill.compat.tensorflow.data.iterators import Iterator
from recordmill.compat.tensorflow.data.structures import map_structure


class RemovedMethod:
    """Attribute that raises AttributeError when it is read; the message names a replacement."""

    def __init__(self, hint: str) -> None:
        self._hint = hint

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, instance: Any, owner: type | None = None) -> NoReturn:
        raise AttributeError(f"Dataset.{self._name} is not supported: {self._hint}", name=self._name, obj=instance)


class LegacyDataset:
    """Dataset methods of TensorFlow 1; methods that are not supported raise an error that names a replacement."""

    node: Node
    element_spec: Any
    counter = RemovedMethod("use enumerate, or from_generator(itertools.count, ...)")
    load = RemovedMethod("use TFRecordDataset")
    random = RemovedMethod("use from_generator with a NumPy generator")
    rebatch = RemovedMethod("use unbatch, then batch")
    rejection_resample = RemovedMethod("use sample_from_datasets")
    save = RemovedMethod("use cache(filename), or write TFRecord files")
    scan = RemovedMethod("use from_generator, and keep the state in the generator")
    snapshot = RemovedMethod("use cache(filename)")
    sparse_batch = RemovedMethod("use batch, which supports sparse tensors")
    take_while = RemovedMethod("use from_generator with itertools.takewhile")
    unique = RemovedMethod("use filter with a Python set in tf.py_function")

    @property
    def output_types(self) -> Any:
        """Dtypes of the elements."""
        return output_types_of(self)

    @property
    def output_shapes(self) -> Any:
        """Shapes of the elements."""
        return output_shapes_of(self)

    def make_one_shot_iterator(self) -> Any:
        """Create an iterator over elements or, in graph mode, over symbolic tensors for sessions."""
        return create_one_shot_iterator(self, is_eager_by_default=False)

    def make_initializable_iterator(self, shared_name: Any = None) -> Any:  # noqa: ARG002
        """Create an iterator of symbolic tensors for sessions; running its initializer restarts the iteration."""
        return create_initializable_iterator(self, is_eager_by_default=False)


def output_types_of(dataset_or_iterator: Any) -> Any:
    """``tf.compat.v1.data.get_output_types``: return the dtypes of the elements."""
    return map_structure(lambda spec: spec.dtype, dataset_or_iterator.element_spec)


def output_shapes_of(dataset_or_iterator: Any) -> Any:
    """``tf.compat.v1.data.get_output_shapes``: return the shapes of the elements."""
    return map_structure(lambda spec: spec.shape, dataset_or_iterator.element_spec)


def create_one_shot_iterator(dataset: Any, *, is_eager_by_default: bool) -> Any:
    """``tf.compat.v1.data.make_one_shot_iterator``: iterate over elements or, in graph mode, symbolic tensors."""
    from recordmill.compat.tensorflow.graphs.iterators import GraphIterator, store_eager_element
    from recordmill.compat.tensorflow.graphs.modes import is_eager

    if is_eager(otherwise=is_eager_by_default):
        return Iterator(dataset.node, store_eager_element)
    return GraphIterator(dataset.element_spec, dataset, starts=True)


def create_initializable_iterator(dataset: Any, *, is_eager_by_default: bool) -> Any:
    """``tf.compat.v1.data.make_initializable_iterator``: create an iterator of symbolic tensors for sessions."""
    from recordmill.compat.tensorflow.graphs.iterators import GraphIterator
    from recordmill.compat.tensorflow.graphs.modes import is_eager

    if is_eager(otherwise=is_eager_by_default):
        raise RuntimeError(
            "make_initializable_iterator is not supported when eager execution is enabled. Iterate over the dataset, "
            "or call tf.compat.v1.disable_eager_execution() first and use a session."
        )
    return GraphIterator(dataset.element_spec, dataset)
