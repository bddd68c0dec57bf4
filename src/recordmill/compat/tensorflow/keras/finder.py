"""Imports of modules below ``tf.keras``: they are Keras's own, but for those that lie in this folder."""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import sys
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

HERE = "recordmill.compat.tensorflow.keras."


class KerasFinder(MetaPathFinder, Loader):
    """Gives Keras's module for a name below ``tf.keras``; Python asks it after looking into the folder."""

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None,  # noqa: ARG002 (Python hands it over)
        target: ModuleType | None = None,  # noqa: ARG002 (Python hands it over)
    ) -> ModuleSpec | None:
        """Claim the names below ``tf.keras`` that Keras has."""
        if not fullname.startswith(HERE):
            return None
        return None if _theirs(fullname) is None else ModuleSpec(fullname, self)

    def exec_module(self, module: ModuleType) -> None:
        """Put Keras's module in the place of the new one, as Python lets a module do."""
        sys.modules[module.__name__] = importlib.import_module(str(_theirs(module.__name__)))


def _theirs(fullname: str) -> str | None:
    """Name of Keras's module for one below ``tf.keras``: the one that it shows TensorFlow's programs, else its own."""
    from recordmill.compat.tensorflow.keras.loading import FACE, face

    face()
    for whole in (FACE, "keras"):
        name = f"{whole}.{fullname.removeprefix(HERE)}"
        with contextlib.suppress(ModuleNotFoundError):
            if importlib.util.find_spec(name) is not None:
                return name
    return None


def install() -> None:
    """Let Python ask for modules below ``tf.keras`` here."""
    if not any(isinstance(finder, KerasFinder) for finder in sys.meta_path):
        sys.meta_path.append(KerasFinder())
