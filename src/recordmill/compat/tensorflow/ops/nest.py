"""``tf.nest``: functions of nested tuples, lists and dicts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from recordmill.compat.tensorflow.core.absent import make_absent_getattr

__all__ = ["assert_same_structure", "flatten", "is_nested", "map_structure", "pack_sequence_as"]
__getattr__ = make_absent_getattr(__name__, "nest")


def is_nested(structure: Any) -> bool:
    """``tf.nest.is_nested``: return whether a value is a dict, list or tuple."""
    return isinstance(structure, dict | list | tuple)


def _list_children(structure: Any) -> list[Any]:
    return [structure[key] for key in sorted(structure)] if isinstance(structure, dict) else list(structure)


def flatten(structure: Any, expand_composites: bool = False) -> list[Any]:  # noqa: ARG001 (composites stay whole)
    """``tf.nest.flatten``: return the innermost values in a list; values of dicts are sorted by key."""
    if not is_nested(structure):
        return [structure]
    return [one for child in _list_children(structure) for one in flatten(child)]


def pack_sequence_as(structure: Any, flat_sequence: Any, expand_composites: bool = False) -> Any:  # noqa: ARG001
    """``tf.nest.pack_sequence_as``: copy `structure` and replace its innermost values by those in `flat_sequence`."""
    values, count = list(flat_sequence), len(flatten(structure))
    if len(values) != count:
        raise ValueError(f"flat_sequence must have as many values as the structure ({count}), got {len(values)}")
    return _pack_values(structure, iter(values))


def _pack_values(structure: Any, values: Iterator[Any]) -> Any:
    if isinstance(structure, dict):
        packed = {key: _pack_values(structure[key], values) for key in sorted(structure)}
        return type(structure)((key, packed[key]) for key in structure)
    if isinstance(structure, tuple) and hasattr(structure, "_fields"):
        return type(structure)(*(_pack_values(one, values) for one in structure))
    if isinstance(structure, list | tuple):
        return type(structure)(_pack_values(one, values) for one in structure)
    return next(values)


def map_structure(func: Callable[..., Any], *structure: Any, **kwargs: Any) -> Any:
    """``tf.nest.map_structure``: apply a function to the values of structures with the same nesting."""
    if not callable(func):
        raise TypeError(f"func must be callable, got {func!r}")
    unknown = set(kwargs) - {"expand_composites", "check_types"}
    if unknown:
        raise TypeError(f"map_structure() got an unexpected keyword argument {min(unknown)!r}")
    if not structure:
        raise TypeError("map_structure() requires at least one structure")
    for other in structure[1:]:
        assert_same_structure(structure[0], other)
    results = [func(*values) for values in zip(*map(flatten, structure), strict=True)]
    return pack_sequence_as(structure[0], results)


def assert_same_structure(nest1: Any, nest2: Any, check_types: bool = True, expand_composites: bool = False) -> None:  # noqa: ARG001
    """``tf.nest.assert_same_structure``: raise ValueError or TypeError if two structures differ."""
    if is_nested(nest1) != is_nested(nest2):
        raise ValueError(f"the structures differ: {nest1!r} and {nest2!r}")
    if not is_nested(nest1):
        return
    if check_types and type(nest1) is not type(nest2):
        raise TypeError(f"the structures have different types: {type(nest1)} and {type(nest2)}")
    if len(nest1) != len(nest2) or (isinstance(nest1, dict) and set(nest1) != set(nest2)):
        raise ValueError(f"the structures differ: {nest1!r} and {nest2!r}")
    for one, other in zip(_list_children(nest1), _list_children(nest2), strict=True):
        assert_same_structure(one, other, check_types)
