"""Register TensorFlow's operations, and dispatch each call according to its arguments.

While a map function is traced, the tracer records calls with traced values. A library such as Keras handles calls with
its own tensors. Every other call runs the operation immediately.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any, ParamSpec, Protocol, TypeVar

from recordmill.compat.tensorflow.core.composite import CompositeTensor

P = ParamSpec("P")
R = TypeVar("R")


class CallHandler(Protocol):
    """Interface of objects that handle calls with traced values, Keras tensors or TensorFlow 1 graph tensors."""

    def owns_value(self, value: Any) -> bool:
        """Return whether `value` is, or contains, a tensor that this handler processes."""

    def handle_call(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Record or run a call of the operation `name`, and return the result."""


RECORDING: ContextVar[CallHandler | None] = ContextVar("recording", default=None)
# True while a map function runs on elements of variable size. In that case, tf.image.central_crop rounds the fraction
# to float32, as TensorFlow does.
SIZES_UNKNOWN: ContextVar[bool] = ContextVar("sizes unknown", default=False)
OPS: dict[str, Callable[..., Any]] = {}
# Handlers of calls with Keras tensors or TensorFlow 1 graph tensors. The modules `keras.operations` and `graphs.graph`
# add their handlers to this list.
LIBRARIES: list[CallHandler] = []
# Maps each family of operations to the modules that define it. The operation "math.add" belongs to the family "math".
FAMILIES: dict[str, tuple[str, ...]] = {
    "array": ("ops.cast", "ops.create", "ops.index", "ops.join", "ops.shape", "ops.sort"),
    "control": ("ops.control", "ops.functions"),
    "debugging": ("ops.asserts",),
    "image": (
        "images.boxes",
        "images.color",
        "images.crop",
        "images.flip",
        "images.random",
        "images.resize",
        "images.resize_v1",
    ),
    "io": ("images.decode", "images.encode", "io.raw", "io.parsing", "io.sequences"),
    "linalg": ("ops.matrix",),
    "lookup": ("lookup.tables",),
    "math": ("ops.elementwise", "ops.reduce", "ops.sort"),
    "nn": ("ops.nn",),
    "random": ("ops.random",),
    "ragged": ("core.ragged",),
    "signal": ("ops.signal",),
    "sparse": ("core.sparse", "ops.sparse"),
    "strings": ("ops.numerals", "ops.regex", "ops.strings"),
}
_PACKAGE = "recordmill.compat.tensorflow"


# An adapter handles a call with ragged or sparse arguments: it calls the operation on the values of these arguments.
Adapter = Callable[[Callable[..., Any], tuple[Any, ...], dict[str, Any]], Any]


def op(
    name: str, *, always: bool = False, composite: Adapter | None = None
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Return a decorator that adds a function to the table of operations.

    Every operation accepts TensorFlow's ``name=`` argument and ignores it. With `always`, a call is recorded even if
    no argument is traced. `composite` handles calls with ragged or sparse arguments.
    """

    def register_operation(function: Callable[P, R]) -> Callable[P, R]:
        @functools.wraps(function)
        def call_or_record(*args: P.args, **kwargs: P.kwargs) -> R:
            kwargs.pop("name", None)
            recording = RECORDING.get()
            if recording is not None and (always or recording.owns_value((args, kwargs))):
                traced: R = recording.handle_call(name, args, kwargs)
                return traced
            for library in LIBRARIES:
                if library.owns_value((args, kwargs)):
                    result: R = library.handle_call(name, args, kwargs)
                    return result
            if composite is not None and any(isinstance(one, CompositeTensor) for one in (*args, *kwargs.values())):
                adapted: R = composite(call_or_record, args, kwargs)
                return adapted
            return function(*args, **kwargs)

        if name in OPS:
            raise ValueError(f"operation {name!r} is defined twice")
        OPS[name] = call_or_record
        return call_or_record

    return register_operation


def call_operation(name: str, *args: Any, **kwargs: Any) -> Any:
    """Call an operation by its name, such as "math.add"."""
    return find_operation(name)(*args, **kwargs)


def find_operation(name: str) -> Callable[..., Any]:
    """Return an operation by its name, such as "math.add"; import the modules of its family if necessary."""
    if name not in OPS:
        for module in FAMILIES[name.partition(".")[0]]:
            importlib.import_module(f"{_PACKAGE}.{module}")
    return OPS[name]
