"""``tf.function``, ``tf.py_function`` and ``tf.numpy_function``: call Python functions without compiling them."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from recordmill.compat.tensorflow.core.arrays import array_of
from recordmill.compat.tensorflow.core.composite import CompositeTensor
from recordmill.compat.tensorflow.core.dispatch import op
from recordmill.compat.tensorflow.core.tensor import Tensor, as_tensor
from recordmill.compat.tensorflow.ops import nest

_HINTS = {
    "autograph",
    "experimental_attributes",
    "experimental_autograph_options",
    "experimental_follow_type_hints",
    "experimental_implements",
    "experimental_relax_shapes",
    "jit_compile",
    "name",
    "reduce_retracing",
}


def function(func: Callable[..., Any] | None = None, input_signature: Any = None, **options: Any) -> Any:
    """``tf.function``: decorate a function; the function is not compiled and runs as Python."""
    unknown = set(options) - _HINTS
    if unknown:
        raise TypeError(f"function() got an unexpected keyword argument {unknown.pop()!r}")
    if func is None:
        return functools.partial(function, input_signature=input_signature, **options)

    @functools.wraps(func)
    def call_with_tensors(*args: Any, **kwargs: Any) -> Any:
        checked = args if input_signature is None else _check_arguments(args, input_signature)
        inputs = [nest.map_structure(_array_to_tensor, one) for one in checked]
        results = func(*inputs, **{key: _array_to_tensor(one) for key, one in kwargs.items()})
        return nest.map_structure(_value_to_tensor, results)

    call_with_tensors.python_function = func  # type: ignore[attr-defined]
    return call_with_tensors


def _check_arguments(args: tuple[Any, ...], signature: Any) -> list[Any]:
    if len(args) != len(signature):
        raise TypeError(f"expected one argument per entry of input_signature ({len(signature)}), got {len(args)}")
    return [_check_argument(spec, one) for spec, one in zip(signature, args, strict=True)]


def _check_argument(spec: Any, value: Any) -> Any:
    if nest.is_nested(spec):
        parts = zip(nest.flatten(spec), nest.flatten(value), strict=True)
        return nest.pack_sequence_as(spec, [_check_argument(*pair) for pair in parts])
    tensor = as_tensor(value, None if isinstance(value, Tensor) else spec.dtype)
    if not spec.is_compatible_with(tensor):
        raise TypeError(
            f"expected an argument that matches {spec}, got shape {tensor.shape}, dtype {tensor.dtype.name}"
        )
    return tensor


def _array_to_tensor(value: Any) -> Any:
    return as_tensor(value) if isinstance(value, np.ndarray) else value


def _value_to_tensor(value: Any) -> Any:
    kinds = bool | int | float | str | bytes | np.ndarray | np.generic
    return as_tensor(value) if isinstance(value, kinds) else value


@op("control.py_function", always=True)
def py_function(func: Callable[..., Any] | None = None, inp: Any = None, Tout: Any = None) -> Any:  # noqa: N803
    """``tf.py_function``: call a Python function with tensors."""
    if func is None:
        raise TypeError("py_function() is missing the argument 'func'")
    results = func(*(as_tensor(one) for one in inp or ()))
    if not isinstance(Tout, list | tuple):
        return _convert_to_output_type(results, Tout)
    values = [] if results is None else list(results) if isinstance(results, list | tuple) else [results]
    if len(values) != len(Tout):
        raise ValueError(f"the function must return one value per entry of Tout ({len(Tout)}), got {len(values)}")
    return [_convert_to_output_type(one, kind) for one, kind in zip(values, Tout, strict=True)]


def _convert_to_output_type(value: Any, kind: Any) -> Any:
    if not isinstance(value, CompositeTensor):
        return as_tensor(value, getattr(kind, "dtype", kind))
    if not hasattr(kind, "is_compatible_with") or not kind.is_compatible_with(value):
        raise TypeError(f"the function must return a value that matches {kind!r}, got a {type(value).__name__}")
    return value


@op("control.numpy_function", always=True)
def numpy_function(
    func: Callable[..., Any] | None = None,
    inp: Any = None,
    Tout: Any = None,  # noqa: N803 (TensorFlow's name)
    stateful: bool = True,  # noqa: ARG001 (hint)
) -> Any:
    """``tf.numpy_function``: call a Python function with NumPy arrays."""
    if func is None:
        raise TypeError("numpy_function() is missing the argument 'func'")
    results = func(*(as_tensor(one).numpy() for one in inp or ()))
    if results is None:
        return None
    if not isinstance(Tout, list | tuple):
        return Tensor(_convert_numpy_result(results, Tout))
    return [
        Tensor(_convert_numpy_result(one, None))
        for one in (results if isinstance(results, list | tuple) else [results])
    ]


def _convert_numpy_result(value: Any, dtype: Any) -> Any:
    """Convert a result to an array. Python numbers get `dtype`, or NumPy's default dtype if `dtype` is None."""
    if isinstance(value, bool | int | float) and dtype is not None:
        return array_of(value, dtype)
    return array_of(np.asarray(value) if isinstance(value, int | float | list | tuple) else value)


py_func = numpy_function
