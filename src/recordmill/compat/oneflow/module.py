"""Base class of modules, and modules that belong to a call site of an older function."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, Self, TypeVar


class Module:
    """Something that is made once and called for each batch."""

    def forward(self, *inputs: Any, **options: Any) -> Any:
        """Do the work of one call."""
        raise NotImplementedError

    def __call__(self, *inputs: Any, **options: Any) -> Any:
        """Call `forward`."""
        return self.forward(*inputs, **options)

    def train(self, mode: bool = True) -> Self:
        """Return the module itself: it does the same in training and evaluation."""
        del mode
        return self

    def eval(self) -> Self:
        """Return the module itself: it does the same in training and evaluation."""
        return self

    def to(self, device: Any = None, *_: Any, **__: Any) -> Self:
        """Return the module itself; NotImplementedError for another device than the processor."""
        if device is not None and str(device).partition(":")[0] != "cpu":
            raise NotImplementedError(
                f"device {device!r} is not supported: records are read on the processor; hand the arrays to your "
                "framework"
            )
        return self

    def cuda(self, device: Any = None) -> Self:
        """Refuse: records are read on the processor."""
        return self.to("cuda" if device is None else f"cuda:{device}")

    def cpu(self) -> Self:
        """Return the module itself."""
        return self


T = TypeVar("T")
_MADE: dict[tuple[Any, ...], Any] = {}


def module_at_call_site(make: Callable[..., T], **options: Any) -> T:
    """Module of the place from which the function that asks was called, made at its first call."""
    caller = sys._getframe(2)
    key = (caller.f_code.co_filename, caller.f_lineno, caller.f_lasti, make, repr(options))
    if key not in _MADE:
        _MADE[key] = make(**options)
    found: T = _MADE[key]
    return found
