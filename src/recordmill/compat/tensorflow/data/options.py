"""``tf.data.Options``: accepted for compatibility; no option changes elements or their order."""

from __future__ import annotations

from typing import Any

_ALIASES = {"experimental_deterministic": "deterministic", "experimental_threading": "threading"}
_SCALARS = ("dataset_name", "deterministic", "experimental_slack")


class Options:
    """``tf.data.Options``; an unset option is None, and an unset group of options is empty."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if name in _ALIASES:
            return getattr(self, _ALIASES[name])
        if name in _SCALARS:
            return None
        group = vars(self)[name] = Options()
        return group

    def __setattr__(self, name: str, value: Any) -> None:
        vars(self)[_ALIASES.get(name, name)] = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Options) and vars(self) == vars(other)

    __hash__ = None  # type: ignore[assignment]

    def merge(self, options: Options) -> Options:
        """Return these options, overridden by the values that are set in `options`."""
        merged = Options()
        for source in (self, options):
            for name, value in vars(source).items():
                setattr(merged, name, getattr(merged, name).merge(value) if isinstance(value, Options) else value)
        return merged
