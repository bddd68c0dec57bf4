"""Structures of values: tuples, lists and dictionaries; ``tf.nest``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def is_nested(structure: Any) -> bool:
    """Tell whether a value holds others."""
    return isinstance(structure, dict | list | tuple)


def _inner(structure: Any) -> list[Any]:
    return [structure[key] for key in sorted(structure)] if isinstance(structure, dict) else list(structure)


def flatten(structure: Any, expand_composites: bool = False) -> list[Any]:  # noqa: ARG001 (tensors of parts stay whole)
    """List the innermost values, those of dictionaries in order of their keys."""
    if not is_nested(structure):
        return [structure]
    return [one for inner in _inner(structure) for one in flatten(inner)]


def pack_sequence_as(structure: Any, flat_sequence: Any, expand_composites: bool = False) -> Any:  # noqa: ARG001
    """Put values into the places of a structure."""
    values = list(flat_sequence)
    count = len(flatten(structure))
    if len(values) != count:
        raise ValueError(
            f"Could not pack sequence. Structure had {count} atoms, but flat_sequence had {len(values)} items."
        )
    return _packed(structure, iter(values))


def _packed(structure: Any, values: Any) -> Any:
    if isinstance(structure, dict):
        found = {key: _packed(structure[key], values) for key in sorted(structure)}
        return type(structure)((key, found[key]) for key in structure)
    if isinstance(structure, tuple) and hasattr(structure, "_fields"):
        return type(structure)(*(_packed(one, values) for one in structure))
    if isinstance(structure, list | tuple):
        return type(structure)(_packed(one, values) for one in structure)
    return next(values)


def map_structure(func: Callable[..., Any], *structure: Any, **kwargs: Any) -> Any:
    """Call a function on the values of structures that are alike."""
    if not callable(func):
        raise TypeError(f"Argument `func` must be callable, got: {func}")
    unknown = set(kwargs) - {"expand_composites", "check_types"}
    if unknown or not structure:
        raise TypeError(f"Only valid keyword arguments are `check_types` and `expand_composites`, not: `{unknown}`.")
    for other in structure[1:]:
        assert_same_structure(structure[0], other)
    results = [func(*values) for values in zip(*map(flatten, structure), strict=True)]
    return pack_sequence_as(structure[0], results)


def assert_same_structure(nest1: Any, nest2: Any, check_types: bool = True, expand_composites: bool = False) -> None:  # noqa: ARG001
    """Refuse structures that differ."""
    if is_nested(nest1) != is_nested(nest2):
        raise ValueError(f"The two structures don't have the same nested structure: {nest1!r} and {nest2!r}")
    if not is_nested(nest1):
        return
    if check_types and type(nest1) is not type(nest2):
        raise TypeError(f"The two structures don't have the same sequence type: {type(nest1)} and {type(nest2)}")
    if len(nest1) != len(nest2) or (isinstance(nest1, dict) and set(nest1) != set(nest2)):
        raise ValueError(f"The two structures don't have the same nested structure: {nest1!r} and {nest2!r}")
    for one, other in zip(_inner(nest1), _inner(nest2), strict=True):
        assert_same_structure(one, other, check_types)
