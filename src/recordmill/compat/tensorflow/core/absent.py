"""Names that TensorFlow has and this package has not, told apart from names that nobody has."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import NoReturn

_PACKAGE = "recordmill.compat.tensorflow"


def absent(module: str, face: str, name: str) -> AttributeError:
    """Error about a name that a module has not."""
    from recordmill.compat.tensorflow.core.elsewhere import INSTEAD, NAMES
    from recordmill.compat.tensorflow.core.older_elsewhere import instead_of

    told = f"tf.{face}.{name}" if face else f"tf.{name}"
    # Settings stand in one module here, in several there.
    known = any(name in names.split() for place, names in NAMES.items() if place in (face, f"{face}.experimental"))
    message = f"module {module!r} has no attribute {name!r}; the migration page lists what is here"
    if known:
        instead = INSTEAD.get(f"{face}.{name}" if face else name, INSTEAD.get(face or name, INSTEAD["image"]))
        message = f"{told} is not supported: {instead}"
    elif (older := instead_of(face, name)) is not None:
        message = f"{told} is not supported: {older}"
    return AttributeError(message, name=name, obj=sys.modules.get(module))


def missing(module: str, face: str | None = None) -> Callable[[str], NoReturn]:
    """Make the ``__getattr__`` of a module whose names are all there."""

    def get(name: str) -> NoReturn:
        raise absent(module, face_of(module) if face is None else face, name)

    return get


def face_of(module: str) -> str:
    """How TensorFlow's programs call a module of this package."""
    return module.removeprefix(_PACKAGE).lstrip(".")
