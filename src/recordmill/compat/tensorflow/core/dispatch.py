"""The table of operations, and the one place that each call of an operation passes.

While a map function is being recorded, a call that touches a recorded value is handed to the recording;
every other call runs at once, on values of another library by that library.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any, ParamSpec, Protocol, TypeVar

from recordmill.compat.tensorflow.core.row_forms import FORMS, form_of, held_in

P = ParamSpec("P")
R = TypeVar("R")


class Recording(Protocol):
    """Notes the calls of one map function instead of running them."""

    def touches(self, value: Any) -> bool:
        """Whether a value, or one inside it, is a recorded one."""

    def note(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Note a call and give the recorded value that stands for its result."""


class Deciding(Recording, Protocol):
    """Notes what a map function does, also where that depends on values."""

    def decide(self, value: Any) -> bool:
        """Truth of a recorded value, which has none yet."""


RECORDING: ContextVar[Deciding | None] = ContextVar("recording", default=None)
OPS: dict[str, Callable[..., Any]] = {}
# Takes the calls on values of another library: Keras's backend, once tf.keras is in use.
BESIDE: list[Recording] = []
# family of operations: the modules that enter them
FAMILIES: dict[str, tuple[str, ...]] = {
    "audio": ("io.wav",),
    "array": (
        "ops.slicing",
        "ops.casting",
        "ops.distances",
        "ops.hot",
        "ops.joining",
        "ops.making",
        "ops.padding",
        "ops.partitions",
        "ops.picking",
        "ops.ratios",
        "ops.shaping",
        "ops.strided",
        "ops.sorting",
    ),
    "bitwise": ("ops.bits",),
    "control": ("ops.control", "ops.folding", "ops.functions"),
    "debugging": ("ops.asserting", "ops.asserting_shapes"),
    "image": (
        "images.boxes",
        "images.colours",
        "images.distortion",
        "images.drawing",
        "images.flips",
        "images.levels",
        "images.luminance",
        "images.measures",
        "images.older_resizing",
        "images.padded_suppression",
        "images.patches",
        "images.quality",
        "images.random",
        "images.resizing",
        "images.similarity",
        "images.spaces",
        "images.standardization",
        "images.stateless",
        "images.suppression",
    ),
    "io": ("images.decoding", "images.encoding", "io.compressed", "io.parsing", "io.sequences"),
    "linalg": ("ops.decompositions", "ops.matrices", "ops.ratios", "ops.squares"),
    "lookup": ("lookup.static", "lookup.changing"),
    "math": (
        "ops.arithmetic",
        "ops.comparing",
        "ops.bits",
        "ops.complexes",
        "ops.confusion",
        "ops.counting",
        "ops.elementwise",
        "ops.partitions",
        "ops.ratios",
        "ops.reducing",
        "ops.segments",
        "ops.sorting",
    ),
    "nn": ("ops.activations", "ops.convolving", "ops.pooling"),
    "random": ("ops.candidates", "ops.distributions", "ops.drawing", "ops.generators"),
    "ragged": ("core.ragged_making", "core.ragged_ops", "core.ragged_sparse", "ops.ragged_masks"),
    "sets": ("ops.sets",),
    "signal": ("ops.inverse_signals", "ops.mels", "ops.signals"),
    "sparse": ("core.sparse", "core.sparse_making", "ops.older_functions", "ops.sparse_parts", "ops.sparse_sums"),
    "strings": (
        "io.base64",
        "keras.vectorization",
        "ops.characters",
        "ops.hashes",
        "ops.ngrams",
        "ops.numerals",
        "ops.patterns",
        "ops.pieces",
        "ops.texts",
    ),
}
_PACKAGE = "recordmill.compat.tensorflow"


def op(name: str, *, always: bool = False) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Enter a function into the table of operations.

    Every operation takes TensorFlow's ``name=``, which changes no result and is dropped here.
    """

    def enter(function: Callable[P, R]) -> Callable[P, R]:
        @functools.wraps(function)
        def call(*args: P.args, **kwargs: P.kwargs) -> R:
            kwargs.pop("name", None)
            recording = RECORDING.get()
            if recording is not None and (always or recording.touches((args, kwargs))):
                noted: R = recording.note(name, args, kwargs)
                return noted
            for other in BESIDE:
                if other.touches((args, kwargs)):
                    theirs: R = other.note(name, args, kwargs)
                    return theirs
            if name in FORMS and held_in(args, kwargs):
                of_rows: R = form_of(name)(call, *args, **kwargs)
                return of_rows
            return function(*args, **kwargs)

        if name in OPS:
            raise ValueError(f"two operations are called {name!r}")
        OPS[name] = call
        return call

    return enter


def run(name: str, *args: Any, **kwargs: Any) -> Any:
    """Call an operation by name."""
    return operation(name)(*args, **kwargs)


def operation(name: str) -> Callable[..., Any]:
    """Find an operation by name."""
    if name not in OPS:
        for module in FAMILIES[name.partition(".")[0]]:
            importlib.import_module(f"{_PACKAGE}.{module}")
    return OPS[name]
