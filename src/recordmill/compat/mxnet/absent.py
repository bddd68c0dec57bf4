"""Names of MXNet that this package has not: asking for one says so, and what to do instead."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from recordmill.compat.mxnet.base import UnsupportedError

_OURS = "recordmill.compat.mxnet"


class AbsentError(UnsupportedError, AttributeError):
    """A name that MXNet has and this package has not."""


def absent(module: str, hints: Mapping[str, str], otherwise: str | None = None) -> Callable[[str], Any]:
    """``__getattr__`` of a module."""

    def refuse(name: str) -> Any:
        hint = hints.get(name, None if name.startswith("_") else otherwise)
        if hint is None:
            raise AttributeError(f"module {module!r} has no attribute {name!r}", name=name)
        full = f"mx{module.removeprefix(_OURS)}.{name}"
        raise AbsentError(f"{full} is not supported", kind="unsupported", found=full, hint=hint)

    return refuse
