"""Functions of which a recorded one calls one or another, as a value tells."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from recordmill.compat.tensorflow.core.arrays import array_of
from recordmill.compat.tensorflow.core.dispatch import op
from recordmill.compat.tensorflow.data.recorded import Recorded
from recordmill.compat.tensorflow.data.structures import leaves

Choice = tuple[Any, tuple[int, ...] | None, list[Any]]


class Branch:
    """What one of the functions does."""

    def __init__(self, calls: Sequence[Any], result: Any) -> None:
        self.calls, self.leaves = tuple(calls), list(leaves(result))
        made = {number for call in calls for number in call.makes}
        used = {number for call in calls for number in call.inputs}
        used |= {leaf.number for leaf in self.leaves if isinstance(leaf, Recorded)}
        self.outer = frozenset(used - made)

    def run(self, known: dict[int, Any]) -> list[Any]:
        """Do it."""
        for call in self.calls:
            call.make(known)
        return [known[leaf.number] if isinstance(leaf, Recorded) else leaf for leaf in self.leaves]


@op("branch.taken")
def taken(
    value: Any, keys: Sequence[int] | None, branches: Sequence[Branch], outer: Sequence[int], values: Any
) -> list[Any]:
    """Leaves of the result of the branch that a value tells."""
    if keys is None:
        place = int(bool(value))
    else:
        wanted = int(array_of(value))
        place = keys.index(wanted) if wanted in keys else -1
    return branches[place].run(dict(zip(outer, values, strict=True)))


def choices(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Choice | None:
    """What a call chooses between."""
    if name not in _NAMES:
        return None
    known, find = _NAMES[name]
    given = dict(zip(known, args, strict=False)) | kwargs
    if not given.keys() <= set(known) or len(given) < len(args) + len(kwargs):
        return None
    chosen: Choice | None = find(**given)
    return chosen


def _of_cond(pred: Any, true_fn: Any = None, false_fn: Any = None) -> Choice | None:
    if not (isinstance(pred, Recorded) and callable(true_fn) and callable(false_fn)):
        return None
    return pred, None, [false_fn, true_fn]


def _of_switch(branch_index: Any, branch_fns: Any, default: Any = None) -> Choice | None:
    pairs = list(branch_fns.items() if isinstance(branch_fns, dict) else enumerate(branch_fns))
    if not isinstance(branch_index, Recorded) or not pairs or not all(callable(function) for _, function in pairs):
        return None
    pairs.sort(key=lambda pair: pair[0])
    keys, functions = [int(key) for key, _ in pairs], [function for _, function in pairs]
    return branch_index, tuple(keys), functions if default is None else [*functions, default]


_NAMES: dict[str, tuple[tuple[str, ...], Callable[..., Any]]] = {
    "control.cond": (("pred", "true_fn", "false_fn"), _of_cond),
    "control.switch_case": (("branch_index", "branch_fns", "default"), _of_switch),
}
