"""Keras itself: imported at first use, on a backend that is there and is not TensorFlow."""

from __future__ import annotations

import functools
import importlib
import os
import sys
from importlib.util import find_spec
from typing import Any

from recordmill.errors import MissingExtraError

BACKENDS = ("jax", "torch", "numpy")
# What Keras shows under TensorFlow's name; it needs no TensorFlow.
FACE = "keras._tf_keras.keras"
_HINT = "pip install 'recordmill[keras]', or set KERAS_BACKEND to jax, torch or numpy before Keras is imported"


def chosen_backend() -> str:
    """Choose what computes: the environment's ``KERAS_BACKEND`` unless that is TensorFlow, else what is installed."""
    asked = os.environ.get("KERAS_BACKEND")
    if asked and asked != "tensorflow":
        return asked
    return next(name for name in BACKENDS if find_spec(name))


@functools.cache
def keras() -> Any:
    """Import Keras 3, and teach it what it meets in programs for TensorFlow."""
    if "keras" not in sys.modules:
        os.environ["KERAS_BACKEND"] = chosen_backend()
    try:
        import keras as found
    except ModuleNotFoundError as missing:
        raise MissingExtraError(f"tf.keras needs the package {missing.name}", hint=_HINT) from missing
    _check(found)
    from recordmill.compat.tensorflow.keras.adapting import register_adapt
    from recordmill.compat.tensorflow.keras.feeding import register_datasets
    from recordmill.compat.tensorflow.keras.methods import register_methods
    from recordmill.compat.tensorflow.keras.nothing import register_nothing
    from recordmill.compat.tensorflow.keras.operations import register_operations

    register_adapt(found)
    register_datasets()
    register_methods(found)
    register_nothing(found)
    register_operations(found)
    return found


@functools.cache
def face() -> Any:
    """Keras as TensorFlow's programs see it: with the older names that it keeps for them."""
    found = keras()
    try:
        return importlib.import_module(FACE)
    except ModuleNotFoundError:
        return found


def _check(found: Any) -> None:
    version = str(getattr(found, "__version__", "0"))
    if int(version.partition(".")[0]) < 3:
        raise MissingExtraError(f"tf.keras needs Keras 3 and found {version}", hint=_HINT)
    if found.backend.backend() == "tensorflow":
        raise MissingExtraError("Keras was imported with TensorFlow as its backend", hint=_HINT)
