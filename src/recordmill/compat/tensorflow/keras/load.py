"""Import Keras 3, and make its modules importable under the name ``tf.keras``."""

from __future__ import annotations

import contextlib
import functools
import importlib
import importlib.util
import os
import sys
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from recordmill.errors import MissingExtraError

_PACKAGE = "recordmill.compat.tensorflow.keras."
_BACKENDS = ("jax", "torch", "numpy")
# Keras's module for programs that use `tf.keras`. It also has older names. It does not import TensorFlow.
_TF_NAMESPACE = "keras._tf_keras.keras"
_HINT = "pip install 'recordmill[keras]', or set KERAS_BACKEND to jax, torch or numpy before Keras is imported"


def choose_backend() -> str:
    """Return the backend in ``KERAS_BACKEND`` or, if it is unset or TensorFlow, the first backend that is installed."""
    wanted = os.environ.get("KERAS_BACKEND")
    if wanted and wanted != "tensorflow":
        return wanted
    return next(name for name in _BACKENDS if importlib.util.find_spec(name))


@functools.cache
def load_keras() -> Any:
    """Import Keras 3, and register the datasets, tensors and operations of this package with it."""
    if "keras" not in sys.modules:
        os.environ["KERAS_BACKEND"] = choose_backend()
    try:
        import keras
    except ModuleNotFoundError as error:
        raise MissingExtraError(f"tf.keras needs the package {error.name}", hint=_HINT) from error
    version = str(getattr(keras, "__version__", "0"))
    if int(version.partition(".")[0]) < 3:
        raise MissingExtraError(f"tf.keras needs Keras 3, found {version}", hint=_HINT)
    if keras.backend.backend() == "tensorflow":
        raise MissingExtraError("Keras was imported with TensorFlow as its backend", hint=_HINT)
    from recordmill.compat.tensorflow.keras.operations import register_operations
    from recordmill.compat.tensorflow.keras.training import register_datasets, wrap_model_methods

    register_datasets()
    wrap_model_methods(keras)
    register_operations(keras)
    return keras


@functools.cache
def load_legacy_namespace() -> Any:
    """Return Keras's namespace for TensorFlow programs, or ``keras`` if this version of Keras has no such namespace."""
    keras = load_keras()
    try:
        return importlib.import_module(_TF_NAMESPACE)
    except ModuleNotFoundError:
        return keras


class _KerasFinder(MetaPathFinder, Loader):
    """Import hook that finds modules of Keras under ``tf.keras``, unless this package has a module of that name."""

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None,  # noqa: ARG002 (interface)
        target: ModuleType | None = None,  # noqa: ARG002 (interface)
    ) -> ModuleSpec | None:
        if not fullname.startswith(_PACKAGE) or _find_module(fullname) is None:
            return None
        return ModuleSpec(fullname, self)

    def exec_module(self, module: ModuleType) -> None:
        sys.modules[module.__name__] = importlib.import_module(str(_find_module(module.__name__)))


def _find_module(fullname: str) -> str | None:
    """Convert a module name below ``tf.keras`` to the Keras module name. Return None if Keras has no such module."""
    load_legacy_namespace()
    for namespace in (_TF_NAMESPACE, "keras"):
        name = f"{namespace}.{fullname.removeprefix(_PACKAGE)}"
        with contextlib.suppress(ModuleNotFoundError):
            if importlib.util.find_spec(name) is not None:
                return name
    return None


def install_finder() -> None:
    """Add the import hook that finds Keras's modules under ``tf.keras``."""
    if not any(isinstance(finder, _KerasFinder) for finder in sys.meta_path):
        sys.meta_path.append(_KerasFinder())
