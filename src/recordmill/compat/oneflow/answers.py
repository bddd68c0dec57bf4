"""What functions that were graphs give: arrays, to be had at once, by ``get()``, or by a function that takes them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from recordmill.compat.oneflow.tensors import Tensor, TensorBuffer, tensor_of


class _Answer:
    """The ways in which programs of OneFlow's first versions ask for a result."""

    def get(self, *args: Any) -> Any:
        """Return the result, which is there already; with arguments, what a dict's `get` does."""
        return super().get(*args) if args else self  # type: ignore[misc]

    def async_get(self, callback: Callable[[Any], Any]) -> None:
        """Hand the result to a function."""
        callback(self)


class _Array(_Answer, Tensor):
    pass


class _Tuple(_Answer, tuple):  # type: ignore[type-arg]
    __slots__ = ()


class _List(_Answer, list):  # type: ignore[type-arg]
    pass


class _Dict(_Answer, dict):  # type: ignore[type-arg]
    pass


def plain_arrays(value: Any) -> Any:
    """Arrays of NumPy's own in place of tensors, and lists of them in place of tensor buffers."""
    return _changed(value, lambda tensor: tensor.numpy())


def answer_of(value: Any) -> Any:
    """Result of a function that does not say what it gives: with ``get`` and ``async_get``."""
    found = _changed(value, lambda tensor: tensor if isinstance(tensor, Tensor) else tensor.numpy())
    if isinstance(found, Tensor):
        return tensor_of(found).view(_Array)
    kinds: dict[Any, Any] = {tuple: _Tuple, list: _List, dict: _Dict}
    return kinds[type(found)](found) if type(found) in kinds else found


def _changed(value: Any, change: Callable[[Any], Any]) -> Any:
    if isinstance(value, Tensor | TensorBuffer):
        return change(value)
    if isinstance(value, list | tuple):
        return type(value)(_changed(one, change) for one in value)
    return {key: _changed(one, change) for key, one in value.items()} if isinstance(value, dict) else value
