"""What operations give in a graph: one value, or a structure of several."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from recordmill.compat.tensorflow.data.structures import leaves
from recordmill.compat.tensorflow.io.parsing import names_of

Keys = list[tuple[Any, ...]]


def results_of(name: str, args: tuple[Any, ...], kwargs: dict[str, Any], known: Any) -> tuple[Any, Keys]:
    """Form of the result of a call."""
    if known is None and name in _FORMS:
        known = _FORMS[name](*args, **kwargs)
    if isinstance(known, list):
        known = tuple(known)
    keys = list(_keys_in(known))
    return known, keys


def _keys_in(value: Any) -> Keys:
    if isinstance(value, tuple):
        return [(at, *more) for at, one in enumerate(value) for more in _keys_in(one)]
    if isinstance(value, Mapping):
        # in the order in which leaves are told
        return [(key, *more) for key in sorted(value) for more in _keys_in(value[key])]
    return [() for _ in leaves(value)]


def _frames(
    serialized: Any, context_features: Any = None, sequence_features: Any = None, *others: Any, **more: Any
) -> Any:
    del serialized, others, more
    return tuple(dict.fromkeys(names_of(one)) if one else {} for one in (context_features, sequence_features))


def _pieces(value: Any, num_or_size_splits: Any, *others: Any, **more: Any) -> Any:
    del value, others, more
    count = num_or_size_splits if isinstance(num_or_size_splits, int) else len(num_or_size_splits)
    return (None,) * count


def _rows(value: Any, num: Any = None, axis: int = 0) -> Any:
    count = value.shape[axis] if num is None else num
    if count is None:
        raise ValueError(f"Cannot infer argument `num` from shape {value.shape}")
    return (None,) * int(count)


def _several(count: int) -> Callable[..., Any]:
    def form(*unused: Any, **others: Any) -> Any:
        del unused, others
        return (None,) * count

    return form


# operation: what makes the form of its result
_FORMS: dict[str, Callable[..., Any]] = {
    "array.split": _pieces,
    "array.unique": _several(2),
    "array.unique_with_counts": _several(3),
    "array.unstack": _rows,
    "image.sample_distorted_bounding_box": _several(3),
    "io.parse_single_sequence_example": _frames,
    "math.top_k": _several(2),
}
