"""Functions of OneFlow's older programs that were graphs: ``flow.global_function``."""

from __future__ import annotations

import functools
import typing
from collections.abc import Callable
from typing import Any

from recordmill.compat.oneflow.absent import AbsentError
from recordmill.compat.oneflow.answers import answer_of, plain_arrays


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
            return answer_of(found)
        if typing.get_origin(says) is not Callable and "Callback" not in str(says):
            return plain_arrays(found)
        return lambda callback: callback(plain_arrays(found))

    return run
