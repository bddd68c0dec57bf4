"""Specs of features that were asked for before."""

from __future__ import annotations

from collections.abc import Mapping
from operator import is_
from typing import Any, NamedTuple

from recordmill.compat.tensorflow.io.specs import Spec

# Specs that were asked for, by what they ask; a program has few of them.
_KNOWN: dict[Any, Spec] = {}
_MOST_KNOWN = 64


class _Last(NamedTuple):
    """What was asked for last, where that can be recognised without looking into it."""

    allowed: tuple[type, ...]
    names: list[str]
    features: list[Any]
    # Lists that features hold, all of them empty then.
    lists: list[list[Any]]
    spec: Spec


_last: _Last | None = None


def known_spec(features: Mapping[str, Any], allowed: tuple[type, ...]) -> Spec:
    """Spec of features, made when they are asked for the first time."""
    global _last  # noqa: PLW0603 (replaced as a whole, by any thread)
    last = _last
    if last is not None and _is_same(last, features, allowed):
        return last.spec
    try:
        key = (allowed, *((name, type(feature), *map(_hashed, feature)) for name, feature in features.items()))
        found = _KNOWN.get(key)
    except TypeError:
        return Spec(features, allowed)
    if found is None:
        if len(_KNOWN) >= _MOST_KNOWN:
            _KNOWN.clear()
        found = _KNOWN[key] = Spec(features, allowed)
    lists = [part for feature in features.values() for part in feature if isinstance(part, list | tuple)]
    if not any(lists):
        _last = _Last(allowed, [*features], [*features.values()], [one for one in lists if type(one) is list], found)
    return found


def _is_same(last: _Last, features: Mapping[str, Any], allowed: tuple[type, ...]) -> bool:
    """Whether the very same features are asked for; they are tuples, of which only lists may have changed."""
    given = [*features.values()]
    return (
        last.allowed is allowed
        and len(last.features) == len(given)
        and all(map(is_, given, last.features))
        and last.names == [*features]
        and not any(last.lists)
    )


def _hashed(part: Any) -> Any:
    if isinstance(part, list | tuple):
        return (type(part), *map(_hashed, part))
    return (type(part), part)
