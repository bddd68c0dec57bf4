"""``Dataset.padded_batch``: pad and stack the leaves of elements, and check `padded_shapes` and `padding_values`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recordmill.compat.tensorflow.core.dtypes import as_dtype
from recordmill.compat.tensorflow.core.errors import DataLossError, UnimplementedError
from recordmill.compat.tensorflow.core.shapes import TensorShape
from recordmill.compat.tensorflow.core.tensor import Tensor, array_of
from recordmill.compat.tensorflow.data.structures import children, leaves
from recordmill.compat.tensorflow.ops.specs import TensorSpec


def pad_and_stack_leaf(rows: Sequence[Any], shape: TensorShape | None, fill: Any) -> Tensor:
    """Pad the tensors in `rows` to `shape` and stack them. Unknown axis lengths become the longest length in `rows`."""
    if not all(isinstance(row, Tensor) for row in rows):
        raise UnimplementedError("padded_batch supports only dense tensors")
    arrays = [row.values for row in rows]
    longest = [max(lengths) for lengths in zip(*(array.shape for array in arrays), strict=True)]
    target = longest if shape is None or shape.rank is None else shape.as_list()
    if len(target) != len(longest):
        raise ValueError(
            f"The padded shape {TensorShape(target)} is not compatible with the shape {TensorShape(longest)} of the "
            "corresponding input component."
        )
    lengths = [own if length is None else length for own, length in zip(longest, target, strict=True)]
    if any(own > length for own, length in zip(longest, lengths, strict=True)):
        raise DataLossError("Attempted to pad to a smaller size than the input element.")
    dtype = arrays[0].dtype
    padded: NDArray[Any] = np.empty((len(arrays), *lengths), dtype)
    padded[...] = (b"" if dtype.hasobject else 0) if fill is None else fill
    for position, array in enumerate(arrays):
        window: Any = (position, *(slice(length) for length in array.shape), ...)
        padded[window] = array
    return Tensor(padded)


def fill_unknown_lengths(spec: Any, shapes: Any, length: int | None) -> Any:
    """Return padded shapes for elements with the specs `spec`; unknown axis lengths become `length`."""
    if isinstance(spec, TensorSpec):
        shape = TensorShape(spec.shape if shapes is None else shapes)
        return shape if shape.rank is None else TensorShape([length if one in (None, -1) else one for one in shape])
    if isinstance(spec, tuple):
        parts = [None] * len(spec) if shapes is None else shapes
        return tuple(fill_unknown_lengths(one, shape, length) for one, shape in zip(spec, parts, strict=True))
    return {key: fill_unknown_lengths(spec[key], None if shapes is None else shapes[key], length) for key in spec}


def check_padded_shapes(spec: Any, shapes: Any) -> list[Any]:
    """Check `padded_shapes` and return one shape per leaf of the elements; a list of integers is one shape."""
    if children(spec) is not None:
        kind: Any = (list, tuple) if isinstance(spec, tuple) else dict
        if not isinstance(shapes, kind) or len(shapes) != len(spec) or (kind is dict and set(shapes) != set(spec)):
            raise TypeError(f"`padded_shapes` must be nested like the element spec {spec}, got {shapes!r}")
        pairs = (
            zip(spec, shapes, strict=True) if isinstance(spec, tuple) else [(spec[k], shapes[k]) for k in sorted(spec)]
        )
        return [shape for one, part in pairs for shape in check_padded_shapes(one, part)]
    shape = shapes if isinstance(shapes, TensorShape) else _parse_shape(shapes)
    if shape.rank is not None and spec.shape.rank not in (None, shape.rank):
        raise ValueError(f"the padded shape {shape} is not compatible with the shape {spec.shape} of the component")
    return [shape]


def _parse_shape(lengths: Any) -> TensorShape:
    if lengths is None:
        return TensorShape(None)
    if not isinstance(lengths, list | tuple):
        lengths = array_of(lengths).ravel().tolist()
    return TensorShape([None if one in (None, -1) else one for one in lengths])


def check_padding_values(spec: Any, values: Any) -> list[Any]:
    """Check `padding_values` and return one value per leaf of the elements; None stands for the default."""
    specs = list(leaves(spec))
    parts: Sequence[Any] = [values] * len(specs) if children(values) is None else list(leaves(values))
    return [
        None if value is None else _check_padding_value(one, value) for one, value in zip(specs, parts, strict=True)
    ]


def _check_padding_value(spec: TensorSpec, value: Any) -> Any:
    array = array_of(value)
    if array.dtype != spec.dtype.numpy_dtype:
        raise TypeError(f"padding_values must be of dtype {spec.dtype.name}, got {as_dtype(array.dtype).name}")
    return array[()]
