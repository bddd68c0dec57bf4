"""Dtypes, shapes and kinds of elements, as TensorFlow 1's programs ask for them."""

from __future__ import annotations

from typing import Any

from recordmill.compat.tensorflow.core.tensor import AnyTensor as Tensor
from recordmill.compat.tensorflow.data.structures import mapped
from recordmill.compat.tensorflow.ops.specs import TensorSpec


def types_of(dataset_or_iterator: Any) -> Any:
    """Dtypes of the elements: ``output_types``."""
    return mapped(lambda spec: spec.dtype, dataset_or_iterator.element_spec)


def shapes_of(dataset_or_iterator: Any) -> Any:
    """Shapes of the elements: ``output_shapes``."""
    return mapped(lambda spec: spec.shape, dataset_or_iterator.element_spec)


def classes_of(dataset_or_iterator: Any) -> Any:
    """Classes of the elements: ``output_classes``."""
    return mapped(_class_of, dataset_or_iterator.element_spec)


def _class_of(spec: Any) -> Any:
    return Tensor if isinstance(spec, TensorSpec) else spec.value_type
