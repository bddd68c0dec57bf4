"""Class methods of ``tf.data.Dataset`` that create datasets."""

from __future__ import annotations

import glob
import os
from collections.abc import Callable
from typing import Any, Self

import numpy as np

from recordmill.compat.tensorflow.core import dtypes
from recordmill.compat.tensorflow.core.errors import InvalidArgumentError
from recordmill.compat.tensorflow.core.tensor import Tensor, array_of
from recordmill.compat.tensorflow.data.base import DatasetBase
from recordmill.compat.tensorflow.data.combine import ChooseInput, Zip
from recordmill.compat.tensorflow.data.elements import Node, require_node
from recordmill.compat.tensorflow.data.order import Shuffle
from recordmill.compat.tensorflow.data.sources import (
    FromGenerator,
    RandomChoices,
    Range,
    SingleElement,
    TensorSlices,
    build_signature,
)
from recordmill.compat.tensorflow.data.structures import leaves, to_int
from recordmill.compat.tensorflow.data.symbolic import find_symbolic
from recordmill.compat.tensorflow.ops.specs import RaggedTensorSpec, SparseTensorSpec, TensorSpec

# TensorFlow's `name` arguments have no effect here.
# ruff: noqa: ARG003


class DatasetFactories(DatasetBase):
    """Constructors of `Dataset`; subclasses such as `TFRecordDataset` inherit them, as in TensorFlow."""

    @classmethod
    def _from_node(cls, node: Node) -> Self:
        dataset = cls.__new__(cls)
        DatasetBase.__init__(dataset, node)
        return dataset

    @classmethod
    def from_tensors(cls, tensors: Any, name: str | None = None) -> Self:
        """Create a dataset with one element."""
        return cls._from_node(create_source(tensors, SingleElement))

    @classmethod
    def from_tensor_slices(cls, tensors: Any, name: str | None = None) -> Self:
        """Create a dataset of the slices of tensors along the first axis."""
        return cls._from_node(create_source(tensors, TensorSlices))

    @classmethod
    def range(cls, *args: Any, output_type: Any = dtypes.int64, name: str | None = None) -> Self:
        """Create a dataset of the integers of a range."""
        if not 1 <= len(args) <= 3:
            raise ValueError(f"Invalid `args`. The length of `args` should be between 1 and 3 but was {len(args)}.")
        return cls._from_node(Range(*(to_int(one, "a bound of range") for one in args), output_type=output_type))

    @classmethod
    def from_generator(
        cls,
        generator: Callable[..., Any],
        output_types: Any = None,
        output_shapes: Any = None,
        args: tuple[Any, ...] | None = None,
        output_signature: Any = None,
        name: str | None = None,
    ) -> Self:
        """Create a dataset of a generator's values; convert the values to the given dtypes and check their shapes."""
        if not callable(generator):
            raise TypeError("`generator` must be a Python callable.")
        if output_signature is not None and (output_types is not None or output_shapes is not None):
            raise TypeError("`output_signature` cannot be combined with `output_types` or `output_shapes`")
        if output_signature is None:
            if output_types is None:
                raise TypeError("either `output_signature` or `output_types` must be given")
            output_signature = build_signature(output_types, output_shapes)
        for leaf in leaves(output_signature):
            if not isinstance(leaf, TensorSpec | SparseTensorSpec | RaggedTensorSpec):
                raise TypeError(
                    "`output_signature` must contain objects that are subclass of `tf.TypeSpec` but found "
                    f"{type(leaf)} which is not."
                )
        return cls._from_node(FromGenerator(generator, output_signature, args or ()))

    @classmethod
    def zip(cls, *args: Any, datasets: Any = None, name: str | None = None) -> Self:
        """Combine datasets element by element; each result has the same nested structure as the arguments."""
        if bool(args) == (datasets is not None):
            raise TypeError("zip() requires either positional datasets or the argument `datasets`, but not both")
        structure = datasets if datasets is not None else args[0] if len(args) == 1 else args
        message = "The inputs of `zip` must be (nested) structures of `tf.data.Dataset` objects"
        return cls._from_node(Zip(structure, *[require_node(leaf, message) for leaf in leaves(structure)]))

    @classmethod
    def list_files(
        cls, file_pattern: Any, shuffle: Any = None, seed: int | None = None, name: str | None = None
    ) -> Self:
        """Create a dataset of the file names that match patterns: shuffled (default), or sorted."""
        patterns = [os.fsdecode(one) for one in array_of(file_pattern).ravel()]
        names = sorted({os.fsencode(path) for pattern in patterns for path in glob.glob(pattern)})
        if not names:
            raise InvalidArgumentError(f"No files matched pattern: {', '.join(patterns)}")
        array = np.empty(len(names), object)
        array[:] = names
        node: Node = TensorSlices(Tensor(array))
        return cls._from_node(node if shuffle is False else Shuffle(node, len(names), seed, again=True))

    @classmethod
    def choose_from_datasets(cls, datasets: Any, choice_dataset: Any, stop_on_empty_dataset: bool = True) -> Self:
        """Take each element from one of `datasets`; `choice_dataset` yields the position of the dataset to use."""
        return cls._from_node(ChooseInput([one.node for one in datasets], choice_dataset.node, stop_on_empty_dataset))

    @classmethod
    def sample_from_datasets(
        cls,
        datasets: Any,
        weights: Any = None,
        seed: int | None = None,
        stop_on_empty_dataset: bool = False,
        rerandomize_each_iteration: bool | None = None,
    ) -> Self:
        """Take each element from a random dataset; the random numbers are NumPy's, not TensorFlow's."""
        shares = np.ones(len(datasets)) if weights is None else array_of(weights).astype(np.float64)
        if shares.shape != (len(datasets),) or not (shares >= 0).all() or not shares.sum():
            raise ValueError(
                f"weights must be {len(datasets)} non-negative numbers with a positive sum, got {weights!r}"
            )
        choices = RandomChoices(shares / shares.sum(), seed, reshuffle=bool(rerandomize_each_iteration))
        unused = frozenset(np.flatnonzero(shares == 0).tolist())
        return cls._from_node(ChooseInput([one.node for one in datasets], choices, stop_on_empty_dataset, unused))


def create_source(value: Any, kind: type[TensorSlices | SingleElement]) -> Node:
    """Create a source node for a value. If the value contains TensorFlow 1 graph tensors, a session evaluates them."""
    if any(one.of_graph for one in find_symbolic(value)):
        from recordmill.compat.tensorflow.graphs.iterators import PlaceholderSource

        return PlaceholderSource(value, kind)
    return kind(value)
