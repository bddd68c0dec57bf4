"""Functions of Python's inside a program: ``tf.function``, ``tf.py_function``, ``tf.numpy_function``."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from recordmill.compat.tensorflow.core.arrays import array_of
from recordmill.compat.tensorflow.core.composite import Composite
from recordmill.compat.tensorflow.core.dispatch import op
from recordmill.compat.tensorflow.core.tensor import Tensor, as_tensor
from recordmill.compat.tensorflow.ops import trees


def function(func: Callable[..., Any] | None = None, input_signature: Any = None, **options: Any) -> Any:
    """Decorate a function: it is called as it is, there are no graphs here."""
    unknown = [one for one in options if one not in _HINTS]
    if unknown:
        raise TypeError(f"function() got an unexpected keyword argument '{unknown[0]}'")
    if func is None:
        return functools.partial(function, input_signature=input_signature, **options)

    @functools.wraps(func)
    def call(*args: Any, **kwargs: Any) -> Any:
        given = args if input_signature is None else _signed(args, input_signature)
        made = [trees.map_structure(_input, one) for one in given]
        return trees.map_structure(_output, func(*made, **{key: _input(one) for key, one in kwargs.items()}))

    call.python_function = func  # type: ignore[attr-defined]
    return call


_HINTS = (
    "autograph",
    "experimental_attributes",
    "experimental_autograph_options",
    "experimental_follow_type_hints",
    "experimental_implements",
    "experimental_relax_shapes",
    "jit_compile",
    "name",
    "reduce_retracing",
)


def _signed(args: tuple[Any, ...], signature: Any) -> list[Any]:
    if len(args) != len(signature):
        raise TypeError(f"the function takes {len(signature)} arguments by its input_signature, {len(args)} were given")
    return [_of_spec(spec, one) for spec, one in zip(signature, args, strict=True)]


def _of_spec(spec: Any, value: Any) -> Any:
    if trees.is_nested(spec):
        parts = zip(trees.flatten(spec), trees.flatten(value), strict=True)
        return trees.pack_sequence_as(spec, [_of_spec(*pair) for pair in parts])
    tensor = as_tensor(value, None if isinstance(value, Tensor) else spec.dtype)
    if not spec.is_compatible_with(tensor):
        raise TypeError(f"Binding inputs to tf.function failed: can not cast {spec_of(tensor)} to {spec}")
    return tensor


def spec_of(tensor: Tensor) -> str:
    """Write the shape and dtype of a tensor."""
    return f"TensorSpec(shape={tensor.shape}, dtype={tensor.dtype!r}, name=None)"


def _input(value: Any) -> Any:
    return as_tensor(value) if isinstance(value, np.ndarray) else value


def _output(value: Any) -> Any:
    numbers = bool | int | float | str | bytes | np.ndarray | np.generic
    return as_tensor(value) if isinstance(value, numbers) else value


@op("control.py_function", always=True)
def py_function(func: Callable[..., Any] | None = None, inp: Any = None, Tout: Any = None) -> Any:  # noqa: N803
    """Call a function with tensors."""
    if func is None:
        raise TypeError("py_function() is missing the argument 'func'")
    results = func(*(as_tensor(one) for one in inp or ()))
    if not isinstance(Tout, list | tuple):
        return _as_told(results, Tout)
    values = [] if results is None else list(results) if isinstance(results, list | tuple) else [results]
    if len(values) != len(Tout):
        raise ValueError(f"the function returned {len(values)} values, Tout has {len(Tout)}")
    return [_as_told(one, kind) for one, kind in zip(values, Tout, strict=True)]


def _as_told(value: Any, kind: Any) -> Any:
    if not isinstance(value, Composite):
        return as_tensor(value, getattr(kind, "dtype", kind))
    if not hasattr(kind, "dtype"):
        raise TypeError(f"the function returned a {type(value).__name__}, Tout says {kind!r}: give a spec of it")
    if not kind.is_compatible_with(value):
        raise TypeError(f"the function returned {value!r}, which is not of {kind!r}")
    return value


@op("control.numpy_function", always=True)
def numpy_function(
    func: Callable[..., Any] | None = None,
    inp: Any = None,
    Tout: Any = None,  # noqa: N803 (TensorFlow's name)
    stateful: bool = True,  # noqa: ARG001 (hint)
) -> Any:
    """Call a function with NumPy's values."""
    if func is None:
        raise TypeError("numpy_function() is missing the argument 'func'")
    results = func(*(as_tensor(one).numpy() for one in inp or ()))
    if not isinstance(Tout, list | tuple):
        return None if results is None else Tensor(_result(results, Tout))
    if results is None:
        return None
    return [Tensor(_result(one, None)) for one in (results if isinstance(results, list | tuple) else [results])]


def _result(value: Any, dtype: Any) -> Any:
    """Python's numbers are int64 and float64 for NumPy, and are taken for the dtype that is asked for."""
    if isinstance(value, bool | int | float) and dtype is not None:
        return array_of(value, dtype)
    return array_of(np.asarray(value) if isinstance(value, int | float | list | tuple) else value)


py_func = numpy_function
