"""Convert samples and batches of NumPy arrays to tensors that share memory with the arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import recordmill as rm
from recordmill.adapters.common import contains_bytes, require_extra


class RaggedTensor(NamedTuple):
    """Rows of different lengths in one tensor.

    ``torch.nested.nested_tensor_from_jagged(*ragged)`` returns it as a nested tensor.
    ``torch.nn.functional.embedding_bag`` accepts the two parts with ``include_last_offset=True``.

    Parameters
    ----------
    values : Tensor, shape (total, ...), or RaggedTensor with ``total`` rows
        Concatenation of all rows.
    offsets : Tensor of int64, shape (num_rows + 1,)
        Row ``i`` is ``values[offsets[i]:offsets[i + 1]]``.
    """

    values: Any
    offsets: Any


def tensors(element: Any) -> Any:
    """Convert the NumPy arrays of a sample or batch to tensors that share memory with the arrays.

    Parameters
    ----------
    element : dict, list, tuple, Ragged, ndarray or scalar
        Nested in any way. Values of other types are returned unchanged.

    Returns
    -------
    same structure
        Numeric arrays become tensors of the same memory; ``uint16``, ``uint32`` and ``uint64`` stay unsigned. Arrays
        that are read-only, have negative strides or are not in native byte order are copied. NumPy scalars become
        tensors without dimensions. A `Ragged` becomes a `RaggedTensor`, or a list of `bytes` if it contains byte
        strings.

    Raises
    ------
    MissingExtraError
        If PyTorch is not installed.
    """
    with require_extra("torch"):
        import torch

    def convert(value: Any) -> Any:
        if isinstance(value, np.ndarray | np.generic):
            return torch.from_numpy(_make_shareable(value)) if value.dtype.kind in "biufc" else value
        if isinstance(value, rm.Ragged):
            if contains_bytes(value):
                return value.to_list()
            return RaggedTensor(convert(value.data), convert(value.row_splits))
        return value

    return map_leaves(convert, element)


def map_leaves(function: Callable[[Any], Any], structure: Any) -> Any:
    """Apply a function to each value in nested dicts, lists and tuples, and return the same structure."""
    if isinstance(structure, dict):
        return {key: map_leaves(function, value) for key, value in structure.items()}
    if isinstance(structure, tuple) and hasattr(structure, "_fields"):
        return type(structure)(*(map_leaves(function, value) for value in structure))
    if isinstance(structure, list | tuple):
        return type(structure)(map_leaves(function, value) for value in structure)
    return function(structure)


def _make_shareable(value: NDArray[Any] | np.generic[Any]) -> NDArray[Any]:
    """Return the array itself, or a copy of it if a tensor cannot share its memory."""
    array = np.asarray(value)
    if not array.dtype.isnative:
        return array.astype(array.dtype.newbyteorder("="))
    if not array.flags.writeable or any(stride < 0 for stride in array.strides):
        return array.copy()
    return array
