"""Errors for names of MXNet that are not supported; they name a replacement."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from recordmill.compat.mxnet.base import UnsupportedError

_PACKAGE = "recordmill.compat.mxnet"


class AbsentError(UnsupportedError, AttributeError):
    """A name that is not supported."""


def absent(module: str, hints: Mapping[str, str], default_hint: str | None = None) -> Callable[[str], Any]:
    """Return the ``__getattr__`` of a module; without a default hint other names do not exist."""

    def raise_error(name: str) -> Any:
        hint = hints.get(name, None if name.startswith("_") else default_hint)
        if hint is None:
            raise AttributeError(f"module {module!r} has no attribute {name!r}", name=name)
        full = f"mx{module.removeprefix(_PACKAGE)}.{name}"
        raise AbsentError(f"{full} is not supported", found=full, hint=hint)

    return raise_error
