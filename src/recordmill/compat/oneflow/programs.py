"""Names that set up OneFlow programs: ``global_function``, ``env``, ``config`` and ``scope``."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator
from typing import Any

from recordmill.compat.oneflow.reader import get_rank, get_world_size
from recordmill.compat.oneflow.tensors import Tensor, TensorBuffer, as_tensor
from recordmill.compat.oneflow.transforms import ResizedImages
from recordmill.compat.oneflow.unsupported import create_namespace


class _ResultMixin:
    """Mixin with the methods that OneFlow adds to the result of a ``flow.global_function``."""

    def get(self, *args: Any) -> Any:
        """Return the result. If arguments are given, the result must be a dict: call `dict.get`."""
        return super().get(*args) if args else self  # type: ignore[misc]

    def async_get(self, callback: Callable[[Any], Any]) -> None:
        """Call `callback` with the result."""
        callback(self)


def _add_result_methods(kind: type) -> type:
    return type(kind.__name__, (_ResultMixin, kind), {})


_TensorResult = _add_result_methods(Tensor)
_CONTAINERS = {kind: _add_result_methods(kind) for kind in (tuple, list, dict)}


def _map_tensors(value: Any, convert: Callable[[Any], Any]) -> Any:
    if isinstance(value, Tensor | ResizedImages | TensorBuffer):
        return convert(value)
    if isinstance(value, list | tuple):
        return type(value)(_map_tensors(item, convert) for item in value)
    return {key: _map_tensors(item, convert) for key, item in value.items()} if isinstance(value, dict) else value


def _add_get_methods(value: Any) -> Any:
    """Return a result with the methods `get` and `async_get`. Convert each `TensorBuffer` to a list of arrays."""
    value = _map_tensors(value, lambda tensor: tensor.numpy() if isinstance(tensor, TensorBuffer) else tensor)
    if isinstance(value, Tensor | ResizedImages):
        return as_tensor(value).view(_TensorResult)
    return _CONTAINERS[type(value)](value) if type(value) in _CONTAINERS else value


def global_function(type: Any = "predict", function_config: Any = None) -> Any:  # noqa: A002 (OneFlow's name)
    """Decorator that converts the results of a function.

    If the function has a return annotation, its results become NumPy arrays. Otherwise, its results get the methods
    `get` and `async_get`.
    """
    del function_config
    if callable(type):
        return _convert_results(type)
    if type not in ("predict", None):
        raise NotImplementedError(
            f"the type of flow.global_function must be 'predict', got {type!r}; to train networks, pass the arrays to "
            "Keras, PyTorch or JAX"
        )
    return _convert_results


def _convert_results(function: Callable[..., Any]) -> Callable[..., Any]:
    is_annotated = "return" in getattr(function, "__annotations__", {})

    @functools.wraps(function)
    def run(*args: Any, **kwargs: Any) -> Any:
        found = function(*args, **kwargs)
        return _map_tensors(found, lambda tensor: tensor.numpy()) if is_annotated else _add_get_methods(found)

    return run


@contextlib.contextmanager
def placement(device_tag: str, machine_device_ids: Any = None, hierarchy: Any = None) -> Iterator[None]:
    """``flow.scope.placement``: context manager without effect; any device other than the CPU raises an error."""
    del machine_device_ids, hierarchy
    if device_tag != "cpu":
        raise NotImplementedError(
            f"device_tag must be 'cpu', got {device_tag!r}; to use another device, pass the arrays to your framework"
        )
    yield


env = create_namespace("flow.env", {"get_rank": get_rank, "get_world_size": get_world_size})
# The number of GPUs has no effect, because records are read on the CPU.
config = create_namespace("flow.config", {"gpu_device_num": lambda _val: None})
scope = create_namespace("flow.scope", {"placement": placement})
