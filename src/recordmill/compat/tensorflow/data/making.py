"""``tf.data.Dataset``'s ways of making a data set."""

from __future__ import annotations

import glob
import os
from collections.abc import Callable
from typing import Any

import numpy as np

from recordmill.compat.tensorflow.core import dtypes
from recordmill.compat.tensorflow.core.errors import InvalidArgumentError
from recordmill.compat.tensorflow.core.shapes import TensorShape
from recordmill.compat.tensorflow.core.tensor import Tensor, array_of
from recordmill.compat.tensorflow.data.base import DatasetBase
from recordmill.compat.tensorflow.data.nesting import Zip, form_of
from recordmill.compat.tensorflow.data.recorded import recorded_in
from recordmill.compat.tensorflow.data.shuffling import Shuffle
from recordmill.compat.tensorflow.data.sources import FromGenerator, Random, Range, Single, Slices
from recordmill.compat.tensorflow.data.structures import leaves, mapped, whole
from recordmill.compat.tensorflow.ops.specs import RaggedTensorSpec, SparseTensorSpec, TensorSpec


def _dataset(node: Any) -> Any:
    from recordmill.compat.tensorflow.data.dataset import Dataset

    return Dataset(node)


def source(value: Any, kind: type[Slices | Single]) -> Any:
    """Where elements come from: values, or values that TensorFlow 1's sessions feed."""
    if any(one.of_graph for one in recorded_in(value)):
        from recordmill.compat.tensorflow.graphs.feeding import FedNode

        return FedNode(value, kind)
    return kind(value)


class Making(DatasetBase):
    """Data sets out of other things."""

    @staticmethod
    def from_tensors(tensors: Any, name: str | None = None) -> Any:  # noqa: ARG004
        """One element: the tensors, as they are."""
        return _dataset(source(tensors, Single))

    @staticmethod
    def from_tensor_slices(tensors: Any, name: str | None = None) -> Any:  # noqa: ARG004
        """Rows of tensors; ValueError for scalars and for different numbers of rows."""
        return _dataset(source(tensors, Slices))

    @staticmethod
    def range(*args: Any, output_type: Any = dtypes.int64, name: str | None = None) -> Any:  # noqa: ARG004
        """Whole numbers as of Python's range."""
        if not 1 <= len(args) <= 3:
            raise ValueError(f"Invalid `args`. The length of `args` should be between 1 and 3 but was {len(args)}.")
        return _dataset(Range(*(whole(one, "a bound of range") for one in args), output_type=output_type))

    @staticmethod
    def random(seed: int | None = None, rerandomize_each_iteration: bool | None = None, name: str | None = None) -> Any:  # noqa: ARG004
        """Whole numbers of 32 bits without end, from NumPy's generator; the same in each pass."""
        if rerandomize_each_iteration:
            raise NotImplementedError("rerandomize_each_iteration=True is not supported")
        return _dataset(Random(seed))

    @staticmethod
    def counter(start: int = 0, step: int = 1, dtype: Any = dtypes.int64, name: str | None = None) -> Any:  # noqa: ARG004
        """Whole numbers without end."""
        bound = 2**63 - 1 if step > 0 else -(2**63)
        return _dataset(_Endless(start, bound, step, output_type=dtype))

    @staticmethod
    def from_generator(
        generator: Callable[..., Any],
        output_types: Any = None,
        output_shapes: Any = None,
        args: tuple[Any, ...] | None = None,
        output_signature: Any = None,
        name: str | None = None,  # noqa: ARG004
    ) -> Any:
        """What a function yields, converted to the declared dtypes and checked against the declared shapes."""
        if not callable(generator):
            raise TypeError("`generator` must be a Python callable.")
        for option, given in (("output_types", output_types), ("output_shapes", output_shapes)):
            if output_signature is not None and given is not None:
                raise TypeError(
                    f"The `{option}` argument can not be used together with the `output_signature` argument."
                )
        if output_signature is None:
            if output_types is None:
                raise TypeError(
                    "To specify the output signature you need to provide either the `output_signature` argument or the "
                    "`output_types` argument."
                )
            output_signature = signature_of(output_types, output_shapes)
        for leaf in leaves(output_signature):
            if not isinstance(leaf, TensorSpec | SparseTensorSpec | RaggedTensorSpec):
                raise TypeError(
                    "`output_signature` must contain objects that are subclass of `tf.TypeSpec` but found "
                    f"{type(leaf)} which is not."
                )
        return _dataset(FromGenerator(generator, output_signature, args or ()))

    @staticmethod
    def zip(*args: Any, datasets: Any = None, name: str | None = None) -> Any:  # noqa: ARG004
        """Elements of data sets side by side, in the structure in which they are given."""
        if not args and datasets is None:
            raise TypeError("Must pass at least one dataset to `zip`.")
        if args and datasets is not None:
            raise TypeError("Both `*args` and `datasets` cannot be set.")
        form, nodes = form_of(datasets if datasets is not None else args[0] if len(args) == 1 else args)
        return _dataset(Zip(form, *nodes))

    @staticmethod
    def list_files(file_pattern: Any, shuffle: Any = None, seed: int | None = None, name: str | None = None) -> Any:  # noqa: ARG004
        """Names of files that patterns match: sorted, or in another order in each pass (the default)."""
        patterns = array_of(file_pattern)
        names = sorted({os.fsencode(path) for one in patterns.ravel() for path in glob.glob(os.fsdecode(one))})
        if not names:
            told = ", ".join(os.fsdecode(one) for one in patterns.ravel())
            raise InvalidArgumentError(f"No files matched pattern: {told}")
        array = np.empty(len(names), object)
        array[:] = names
        node: Any = Slices(Tensor(array))
        return _dataset(node if shuffle is False else Shuffle(node, len(names), seed, again=True))

    @staticmethod
    def choose_from_datasets(datasets: Any, choice_dataset: Any, stop_on_empty_dataset: bool = True) -> Any:
        """Elements of the data sets whose numbers another one gives."""
        from recordmill.compat.tensorflow.data.choosing import Choose

        return _dataset(Choose([one.node for one in datasets], choice_dataset.node, stop_on_empty_dataset))

    @staticmethod
    def sample_from_datasets(
        datasets: Any,
        weights: Any = None,
        seed: int | None = None,
        stop_on_empty_dataset: bool = False,
        rerandomize_each_iteration: bool | None = None,
    ) -> Any:
        """Elements of data sets drawn with weights; a generator of ours."""
        from recordmill.compat.tensorflow.data.choosing import Choose, Drawn

        drawn = Drawn(len(datasets), weights, seed, again=bool(rerandomize_each_iteration))
        return _dataset(Choose([one.node for one in datasets], drawn, stop_on_empty_dataset, never=drawn.never))


class _Endless(Range):
    """Whole numbers that do not come to an end."""

    def cardinality(self) -> int:
        """Without end."""
        return -1


def signature_of(types: Any, shapes: Any = None) -> Any:
    """Specs of elements."""
    if shapes is None:
        return mapped(lambda dtype: TensorSpec(None, dtype), types)
    if isinstance(types, tuple):
        return tuple(signature_of(one, shape) for one, shape in zip(types, shapes, strict=True))
    if isinstance(types, dict):
        return {key: signature_of(types[key], shapes[key]) for key in types}
    return TensorSpec(TensorShape(shapes), types)
