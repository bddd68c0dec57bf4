"""``flow.global_function``: functions of older programs that return arrays, also through ``get()`` and callbacks."""

from __future__ import annotations

import functools
import typing
from collections.abc import Callable
from typing import Any

from recordmill.compat.oneflow.absent import AbsentError
from recordmill.compat.oneflow.tensors import Tensor, TensorBuffer, tensor_of


class _Result:
    """The ways in which programs of OneFlow's first versions ask for a result."""

    def get(self, *args: Any) -> Any:
        """Return the result, which is there already; with arguments, what a dict's `get` does."""
        return super().get(*args) if args else self  # type: ignore[misc]

    def async_get(self, callback: Callable[[Any], Any]) -> None:
        """Hand the result to a function."""
        callback(self)


class _Array(_Result, Tensor):
    pass


class _Tuple(_Result, tuple):  # type: ignore[type-arg]
    __slots__ = ()


class _List(_Result, list):  # type: ignore[type-arg]
    pass


class _Dict(_Result, dict):  # type: ignore[type-arg]
    pass


def to_numpy(value: Any) -> Any:
    """Arrays of NumPy's own in place of tensors, and lists of them in place of tensor buffers."""
    return _map_tensors(value, lambda tensor: tensor.numpy())


def to_result(value: Any) -> Any:
    """Result of a function that does not say what it gives: with ``get`` and ``async_get``."""
    found = _map_tensors(value, lambda tensor: tensor if isinstance(tensor, Tensor) else tensor.numpy())
    if isinstance(found, Tensor):
        return tensor_of(found).view(_Array)
    kinds: dict[Any, Any] = {tuple: _Tuple, list: _List, dict: _Dict}
    return kinds[type(found)](found) if type(found) in kinds else found


def _map_tensors(value: Any, change: Callable[[Any], Any]) -> Any:
    if isinstance(value, Tensor | TensorBuffer):
        return change(value)
    if isinstance(value, list | tuple):
        return type(value)(_map_tensors(one, change) for one in value)
    return {key: _map_tensors(one, change) for key, one in value.items()} if isinstance(value, dict) else value


class FunctionConfig:
    """Settings of a function; those that concern networks are not here."""

    def default_data_type(self, value: Any) -> None:
        """Nothing: decoders say their dtypes."""
        del value

    def default_logical_view(self, value: Any) -> None:
        """Nothing: records are divided among processes by their parts."""
        del value

    def default_placement_scope(self, value: Any) -> None:
        """Nothing: it is the processor."""
        del value

    default_distribute_strategy = default_logical_view

    def __getattr__(self, name: str) -> Callable[..., None]:
        """Take settings of networks' computation, which change no records; refuse those of training."""
        if name.startswith(("enable_", "cudnn_", "prune_", "use_", "allow_", "concurrency_")):
            return lambda *_: None
        raise AbsentError(f"FunctionConfig.{name} is not supported: networks are not part of this package")


function_config = FunctionConfig


def global_function(type: Any = "predict", function_config: Any = None) -> Any:  # noqa: A002 (OneFlow's name)
    """Decorate a function whose tensors are to be given as NumPy's arrays.

    A function that says ``-> typing.Callback[...]`` gives a function that takes what is to be called with them. What
    one that says nothing gives has ``get()`` and ``async_get(callback)`` too.
    """
    if callable(type) and not isinstance(type, FunctionConfig):
        return _job(type)
    del function_config
    if type not in ("predict", None) and not isinstance(type, FunctionConfig):
        raise NotImplementedError(
            f"flow.global_function(type={type!r}) is not supported, only 'predict': networks are not part of this "
            "package; hand the arrays to Keras, PyTorch or JAX"
        )
    return _job


def _job(function: Callable[..., Any]) -> Callable[..., Any]:
    says = getattr(function, "__annotations__", {}).get("return")

    @functools.wraps(function)
    def run(*args: Any, **kwargs: Any) -> Any:
        found = function(*args, **kwargs)
        if says is None:
            return to_result(found)
        if typing.get_origin(says) is not Callable and "Callback" not in str(says):
            return to_numpy(found)
        return lambda callback: callback(to_numpy(found))

    return run
