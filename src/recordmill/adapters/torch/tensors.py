"""Elements of a pipeline as tensors that share their memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import recordmill as rm
from recordmill.adapters.frameworks import extra


class RaggedTensor(NamedTuple):
    """Rows of different lengths in one tensor.

    ``torch.nested.nested_tensor_from_jagged(*ragged)`` makes a nested tensor of it, and `embedding_bag` takes the two
    parts as they are (``include_last_offset=True``).

    Parameters
    ----------
    values : Tensor, shape (total, ...), or RaggedTensor of ``total`` rows
        All rows, back to back.
    offsets : Tensor of int64, shape (num_rows + 1,)
        Row ``i`` is ``values[offsets[i]:offsets[i + 1]]``.
    """

    values: Any
    offsets: Any


def tensors(element: Any) -> Any:
    """Turn the arrays of a sample or batch into tensors, without a copy.

    Parameters
    ----------
    element : dict, list, tuple, Ragged, ndarray or scalar
        Nested in any way. Values that are none of these stay as they are.

    Returns
    -------
    same structure
        Arrays of numbers become tensors of the same memory; ``uint16``, ``uint32`` and ``uint64`` stay unsigned. Arrays
        that may not be written to, or that run backwards, are copied. NumPy scalars become tensors without dimensions.
        A `Ragged` becomes a `RaggedTensor`; byte strings become a list of `bytes`.

    Raises
    ------
    MissingExtraError
        PyTorch is not installed.
    """
    with extra("torch"):
        import torch
    return _converted(element, torch.from_numpy)


def _converted(value: Any, wrap: Callable[[NDArray[Any]], Any]) -> Any:
    if isinstance(value, np.ndarray | np.generic):
        return wrap(_shareable(value)) if value.dtype.kind in "biufc" else value
    if isinstance(value, rm.Ragged):
        return value.to_list() if _holds_bytes(value) else _ragged(value, wrap)
    if isinstance(value, dict):
        return {key: _converted(inner, wrap) for key, inner in value.items()}
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(_converted(inner, wrap) for inner in value))
    if isinstance(value, list | tuple):
        return type(value)(_converted(inner, wrap) for inner in value)
    return value


def _shareable(value: NDArray[Any] | np.generic[Any]) -> NDArray[Any]:
    array = np.asarray(value)
    if not array.dtype.isnative:
        return array.astype(array.dtype.newbyteorder("="))
    if not array.flags.writeable or any(stride < 0 for stride in array.strides):
        return array.copy()
    return array


def _holds_bytes(ragged: rm.Ragged) -> bool:
    inner = ragged.data
    while isinstance(inner, rm.Ragged):
        inner = inner.data
    return bool(inner.dtype == np.uint8 and inner.ndim == 1)


def _ragged(ragged: rm.Ragged, wrap: Callable[[NDArray[Any]], Any]) -> RaggedTensor:
    return RaggedTensor(_converted(ragged.data, wrap), wrap(_shareable(ragged.row_splits)))
