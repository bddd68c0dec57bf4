"""The table of operations, and the wrapper through which each of them is called.

While a map function is traced, a call with a traced value goes to the recording. A call with values of another library
goes to that library. Every other call runs at once.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any, ParamSpec, Protocol, TypeVar

from recordmill.compat.tensorflow.core.composite import Composite

P = ParamSpec("P")
R = TypeVar("R")


class Recording(Protocol):
    """Records the calls of a map function instead of running them."""

    def touches(self, value: Any) -> bool:
        """Return whether a value is traced, or contains a traced value."""

    def note(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Record a call and return the traced value of its result."""


RECORDING: ContextVar[Recording | None] = ContextVar("recording", default=None)
# True while a map function runs whose image sizes would be unknown in TensorFlow's graph.
SIZES_UNKNOWN: ContextVar[bool] = ContextVar("sizes unknown", default=False)
OPS: dict[str, Callable[..., Any]] = {}
# Libraries that handle calls on their own values: Keras's backend, once tf.keras is imported.
BESIDE: list[Recording] = []
# family of operations: the modules that define them
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


# Calls an operation on the values of its ragged and sparse arguments.
Adapter = Callable[[Callable[..., Any], tuple[Any, ...], dict[str, Any]], Any]


def op(
    name: str, *, always: bool = False, composite: Adapter | None = None
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Add a function to the table of operations.

    Every operation accepts TensorFlow's ``name=`` argument and ignores it. With `always`, a call is recorded even if
    no argument is traced. `composite` handles calls with ragged or sparse arguments.
    """

    def register(function: Callable[P, R]) -> Callable[P, R]:
        @functools.wraps(function)
        def call(*args: P.args, **kwargs: P.kwargs) -> R:
            kwargs.pop("name", None)
            recording = RECORDING.get()
            if recording is not None and (always or recording.touches((args, kwargs))):
                traced: R = recording.note(name, args, kwargs)
                return traced
            for library in BESIDE:
                if library.touches((args, kwargs)):
                    result: R = library.note(name, args, kwargs)
                    return result
            if composite is not None and any(isinstance(one, Composite) for one in (*args, *kwargs.values())):
                adapted: R = composite(call, args, kwargs)
                return adapted
            return function(*args, **kwargs)

        if name in OPS:
            raise ValueError(f"operation {name!r} is defined twice")
        OPS[name] = call
        return call

    return register


def run(name: str, *args: Any, **kwargs: Any) -> Any:
    """Call an operation by name."""
    return operation(name)(*args, **kwargs)


def operation(name: str) -> Callable[..., Any]:
    """Return an operation by name."""
    if name not in OPS:
        for module in FAMILIES[name.partition(".")[0]]:
            importlib.import_module(f"{_PACKAGE}.{module}")
    return OPS[name]
