"""Our messages and Google's side by side: the same calls, the same bytes, texts and refusals."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from google.protobuf.message import DecodeError
from hypothesis import example, given, settings, strategies as st

from recordmill.compat.messages import Message
from recordmill.errors import PayloadError
from recordmill.testing import strategies
from tests.compat.messages.twins import (
    Doubles,
    Example,
    Feature,
    FeatureList,
    Features,
    Int32s,
    List1,
    List2,
    List3,
    SequenceExample,
    theirs,
)

# What is given to fields, right and wrong.
GIVEN: tuple[Any, ...] = (
    None,
    [],
    (),
    b"",
    b"ab",
    "ab",
    3,
    3.5,
    True,
    [1, 2],
    [1.0],
    [True],
    [2**31],
    [-(2**31)],
    [-(2**63)],
    [2**63],
    [2**70],
    [10**400],
    [1e39, float("nan"), -0.0, 0.1],
    [None],
    ["a"],
    [b"a", b""],
    [b"a", "b"],
    [bytearray(b"a")],
    [b"a", 1],
    [[1]],
    range(3),
    {"value": [1]},
    {"value": [b"x"]},
    {"values": []},
    {"a": {}},
    {"a": {"int64": {"value": [1]}}, "b": {"bytes": {"value": [b"x"]}}},
    {"a": 3},
    {3: {}},
    {b"k": {}},
    np.arange(3),
    np.arange(3, dtype=np.uint8),
    np.array([1.5, 1e39]),
    np.array([True]),
    np.array([b"x", b"y"]),
    np.array([b"x", b"y"], object),
    np.arange(4).reshape(2, 2),
    [np.int64(3), np.float32(2)],
    [np.int8(3)],
    [np.array(3)],
    [np.float32(0.1)],
    [np.bool_(True)],
    [np.bytes_(b"x")],
    [np.str_("x")],
)


def outcome(act: Callable[[], Any]) -> Any:
    """Return what a call gives, or the kind of error."""
    try:
        given = act()
    except (DecodeError, PayloadError):
        return "no message"
    except Exception as error:  # noqa: BLE001 (whatever it is, both must raise it)
        return next(kind for kind in type(error).__mro__ if kind.__module__ == "builtins")
    return state(given)


def state(value: Any) -> Any:
    if hasattr(value, "SerializeToString"):
        lines = sorted(str(value).strip().splitlines())
        return value.SerializeToString(deterministic=True), value.ByteSize(), lines
    return value


@pytest.mark.parametrize("given_number", range(len(GIVEN)))
@pytest.mark.parametrize(
    "cls, name",
    [
        (List1, "value"),
        (List2, "value"),
        (List3, "value"),
        (Doubles, "value"),
        (Int32s, "value"),
        (Feature, "int64"),
        (Features, "feature"),
        (FeatureList, "feature"),
        (Example, "features"),
        (Example, "nothing"),
    ],
)
def test_constructor_when_given_anything_then_takes_and_refuses_what_google_does(
    cls: type[Message], name: str, given_number: int
) -> None:
    given_value = GIVEN[given_number]
    expected = outcome(lambda: theirs(cls)(**{name: given_value}))
    if expected is IndexError:  # Google looks an array up by its own strings
        expected = TypeError
    assert outcome(lambda: cls(**{name: given_value})) == expected


@pytest.mark.parametrize("cls", [List1, List2, List3])
@pytest.mark.parametrize("value", [1, 1.5, True, "a", b"a", None, 2**63, np.float32(0.1), np.arange(2)])
def test_append_when_given_anything_then_takes_and_refuses_what_google_does(cls: type[Message], value: Any) -> None:
    def append(kind: Any) -> Any:
        message = kind()
        message.value.append(value)
        return message

    assert outcome(lambda: append(cls)) == outcome(lambda: append(theirs(cls)))


def messages() -> st.SearchStrategy[bytes]:
    odd = (strategies.unusual_examples(), strategies.unusual_sequence_examples())
    return st.one_of(strategies.damaged_messages(), *(one.map(lambda drawn: drawn[0]) for one in odd))


def check_parsing(cls: type[Message], data: bytes) -> None:
    assert outcome(lambda: cls.FromString(data)) == outcome(lambda: theirs(cls).FromString(data))


@pytest.mark.parametrize("cls", [Example, SequenceExample, Features, Feature])
@given(data=messages())
@example(data=bytes.fromhex("0b0c"))
@example(data=bytes.fromhex("0a808080808000"))
@example(data=bytes.fromhex("120a0a080000807f0100a0ff"))
@example(data=bytes.fromhex("330101010101010101010134"))
@example(data=bytes.fromhex("2a01611a0208010805"))
@example(data=bytes.fromhex("0a0c0a01610a01621202 1a001801"))
@example(data=bytes.fromhex("1a0c0a0affffffffffffffffff7f"))
def test_parse_of_any_bytes_when_compared_then_is_google_protobufs(cls: type[Message], data: bytes) -> None:
    check_parsing(cls, data)


@pytest.mark.deep
@pytest.mark.parametrize("cls", [Example, SequenceExample, Features, Feature, List3])
@settings(max_examples=250)
@given(data=messages())
def test_parse_of_many_messages_when_compared_then_is_google_protobufs(cls: type[Message], data: bytes) -> None:
    check_parsing(cls, data)


@given(st.lists(strategies.values("int64"), max_size=60), st.lists(strategies.values("int32"), max_size=60))
def test_long_lists_of_integers_when_written_and_read_then_are_google_protobufs(
    wide: list[int], narrow: list[int]
) -> None:
    for cls, values in ((List3, wide), (Int32s, narrow)):
        message = cls(value=values)
        assert message.SerializeToString() == theirs(cls)(value=values).SerializeToString()
        assert cls.FromString(message.SerializeToString()).value == values


@given(st.lists(strategies.values("float32"), max_size=8), st.lists(strategies.values("float64"), max_size=8))
def test_floats_when_written_as_text_then_are_google_protobufs(single: list[float], double: list[float]) -> None:
    for cls, values in ((List2, single), (Doubles, double)):
        assert outcome(lambda cls=cls, values=values: cls(value=values)) == outcome(
            lambda cls=cls, values=values: theirs(cls)(value=values)
        )


def values() -> st.SearchStrategy[Any]:
    return st.one_of(
        st.integers(-3, 3), st.floats(width=32), st.binary(max_size=3), st.sampled_from(("a", None, 2**63))
    )


KINDS = ("bytes", "float32", "int64")
STEPS: dict[str, Callable[..., Any]] = {
    "append": lambda feature, kind, value, _: getattr(feature, kind).value.append(value),
    "extend": lambda feature, kind, value, place: getattr(feature, kind).value.extend([value] * (place % 3)),
    "insert": lambda feature, kind, value, place: getattr(feature, kind).value.insert(place, value),
    "set": lambda feature, kind, value, place: getattr(feature, kind).value.__setitem__(place, value),
    "set slice": lambda feature, kind, value, place: getattr(feature, kind).value.__setitem__(slice(place), [value]),
    "delete": lambda feature, kind, _, place: getattr(feature, kind).value.__delitem__(place),
    "remove": lambda feature, kind, value, _: getattr(feature, kind).value.remove(value),
    "reverse": lambda feature, kind, *_: getattr(feature, kind).value.reverse(),
    "sort": lambda feature, kind, *_: getattr(feature, kind).value.sort(),
    "clear list": lambda feature, kind, *_: getattr(feature, kind).value.clear(),
    "clear": lambda feature, *_: feature.Clear(),
    "clear one": lambda feature, kind, *_: getattr(feature, kind).Clear(),
    "clear field": lambda feature, kind, *_: feature.ClearField(kind),
    "clear values": lambda feature, kind, *_: getattr(feature, kind).ClearField("value"),
    "clear oneof": lambda feature, *_: feature.ClearField("kind"),
    "set in parent": lambda feature, kind, *_: getattr(feature, kind).SetInParent(),
    "look": lambda feature, kind, *_: list(getattr(feature, kind).value),
    "has": lambda feature, kind, *_: (feature.HasField(kind), feature.HasField("kind"), feature.WhichOneof("kind")),
    "merge bytes": lambda feature, *_: feature.MergeFromString(b"\x1a\x03\x0a\x01\x07"),
    "merge": lambda feature, kind, *_: feature.MergeFrom(type(feature)(**{kind: {}})),
    "copy": lambda feature, kind, *_: getattr(feature, kind).CopyFrom(type(getattr(feature, kind))()),
    "slice": lambda feature, kind, _, place: getattr(feature, kind).value[place:],
}


@given(
    st.lists(
        st.tuples(
            st.sampled_from(sorted(STEPS)),
            st.sampled_from(("a", "a/b", "é")),
            st.sampled_from(KINDS),
            values(),
            st.integers(-2, 3),
        ),
        max_size=12,
    )
)
@settings(max_examples=200)
def test_calls_in_any_order_when_made_on_both_then_leave_the_same(steps: list[tuple[str, str, str, Any, int]]) -> None:
    ours, google = Example(), theirs(Example)()
    for name, key, kind, value, place in steps:
        before = list(getattr(ours.features.feature[key], kind).value)
        found = [
            outcome(lambda m=m: STEPS[name](m.features.feature[key], kind, value, place))  # noqa: B023 (called here)
            for m in (ours, google)
        ]
        assert found[0] == found[1], name
        if name == "set slice" and isinstance(found[0], type):
            assert list(getattr(ours.features.feature[key], kind).value) == before
            return  # protobuf keeps the room that it made for what it then refused
        assert state(ours) == state(google), name
