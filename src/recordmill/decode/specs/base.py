"""What specs of all kinds share: a short printed form, and how checked fields are put in place."""

from __future__ import annotations

from dataclasses import MISSING, fields
from typing import Any


class Spec:
    """Base of immutable values that print only what differs from the defaults."""

    __slots__ = ()

    def __repr__(self) -> str:
        """Readable form, which builds the value again."""
        told: list[str] = []
        for field in fields(self):  # type: ignore[arg-type]
            value = getattr(self, field.name)
            if field.default is MISSING:
                told.append(repr(value) if not told else f"{field.name}={value!r}")
            elif value != field.default:
                told.append(f"{field.name}={value!r}")
        return f"{type(self).__name__}({', '.join(told)})"

    def _set(self, **values: Any) -> None:
        for name, value in values.items():
            object.__setattr__(self, name, value)
