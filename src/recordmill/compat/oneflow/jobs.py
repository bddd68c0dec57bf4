"""Functions of OneFlow's older programs that were graphs: ``flow.global_function``."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from recordmill.compat.oneflow.tensors import Tensor, TensorBuffer


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


function_config = FunctionConfig


def global_function(type: Any = "predict", function_config: Any = None) -> Any:  # noqa: A002 (OneFlow's name)
    """Decorate a function whose tensors are to be given as NumPy's arrays.

    Parameters
    ----------
    type : {"predict"} or FunctionConfig
    function_config : FunctionConfig, optional
        Without influence.

    Returns
    -------
    callable

    Raises
    ------
    NotImplementedError
        A function that trains.
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
    @functools.wraps(function)
    def run(*args: Any, **kwargs: Any) -> Any:
        return _arrays(function(*args, **kwargs))

    return run


def _arrays(value: Any) -> Any:
    if isinstance(value, Tensor | TensorBuffer):
        return value.numpy()
    if isinstance(value, list | tuple):
        return type(value)(_arrays(one) for one in value)
    return {key: _arrays(one) for key, one in value.items()} if isinstance(value, dict) else value
