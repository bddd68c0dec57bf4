"""Messages and lists that scripts hold while they are copied, merged and changed, beside google.protobuf's."""

from __future__ import annotations

import copy
from typing import Any

from hypothesis import given, settings, strategies as st

from tests.compat.messages.twins import Example, Feature, FeatureList, Features, theirs

KINDS = ("bytes", "float32", "int64")
VALUES = {"bytes": b"v", "float32": 0.5, "int64": 3}
AROUND = {"Feature": Features, "Features": Example}


def child(held: Any, kind: str, key: str) -> Any:
    """What a script gets when it looks into something that it holds."""
    name = type(held).__name__
    if name == "Example":
        return held.features
    if name == "Features":
        return held.feature[key]
    if name == "FeatureList":
        return held.feature[0] if len(held.feature) else held.feature.add()
    return getattr(held, kind) if name == "Feature" else held.value


def around(held: Any, is_ours: bool, kind: str, key: str) -> Any:
    """Message that is made of one."""
    name, own = type(held).__name__, (lambda cls: cls) if is_ours else theirs
    if name == "Features":
        return own(Example)(features=held)
    if name == "Feature":
        return own(Features)(feature={key: held}) if key == "a" else own(FeatureList)(feature=[held, held])
    if name.startswith("List"):
        return own(Feature)(**{KINDS[int(name[4:]) - 1]: held})
    return copy.deepcopy(held)


def change(held: Any, kind: str, key: str) -> None:
    """Add a value at the lowest place below."""
    while hasattr(held, "DESCRIPTOR"):
        kind = KINDS[int(type(held).__name__[4:]) - 1] if type(held).__name__.startswith("List") else kind
        held = child(held, kind, key)
    held.append(VALUES[kind])


def content(held: Any) -> Any:
    if hasattr(held, "DESCRIPTOR"):
        return held.SerializeToString(deterministic=True)
    return list(held)


STEPS = st.lists(
    st.tuples(
        st.sampled_from(("child", "child", "around", "merge", "deepcopy", "change", "change")),
        st.integers(0, 50),
        st.integers(0, 50),
        st.sampled_from(KINDS),
        st.sampled_from(("a", "b")),
    ),
    max_size=25,
)


@given(STEPS)
@settings(max_examples=1000, deadline=None)
def test_held_values_when_others_are_made_of_them_then_only_what_is_changed_changes(steps: list[Any]) -> None:
    held = [(Example(), theirs(Example)()), (Feature(), theirs(Feature)())]
    kinds: dict[int, str] = {}  # of lists, which do not tell
    for name, one, other, drawn, key in steps:
        ours, google = held[one % len(held)]
        kind = kinds.get(id(ours), drawn)
        if name == "change":
            change(ours, kind, key)
            change(google, kind, key)
        elif not hasattr(ours, "DESCRIPTOR"):
            continue
        elif name == "child":
            held.append((child(ours, kind, key), child(google, kind, key)))
            if type(ours).__name__.startswith("List"):
                kinds[id(held[-1][0])] = KINDS[int(type(ours).__name__[4:]) - 1]
        elif name == "around":
            held.append((around(ours, True, kind, key), around(google, False, kind, key)))
        elif name == "deepcopy":
            held.append((copy.deepcopy(ours), copy.deepcopy(google)))
        else:
            alike = [pair for pair in held if type(pair[0]) is type(ours)]
            second = alike[other % len(alike)]
            if second[0] is not ours:
                ours.MergeFrom(second[0])
                google.MergeFrom(second[1])
        assert [content(one) for one, _ in held] == [content(one) for _, one in held], name
