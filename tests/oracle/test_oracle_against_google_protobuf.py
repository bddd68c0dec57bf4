"""The message oracle against Google's protobuf, on messages whose types are built here from descriptors."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from google.protobuf.internal import api_implementation
from google.protobuf.message import DecodeError, Message
from hypothesis import example, given, settings, strategies as st

from recordmill.testing import messages, strategies
from recordmill.testing.faults import OracleError
from recordmill.testing.messages import EXAMPLE_KINDS, OFRECORD_KINDS, Features, SequenceExample, to_comparable

Proto = descriptor_pb2.FieldDescriptorProto
TYPES = {
    "bytes": Proto.TYPE_BYTES,
    "float32": Proto.TYPE_FLOAT,
    "float64": Proto.TYPE_DOUBLE,
    "int32": Proto.TYPE_INT32,
    "int64": Proto.TYPE_INT64,
}
Comparable = dict[str, Any] | tuple[dict[str, Any], dict[str, Any]]


def add_message_field(message: Any, name: str, number: int, type_name: str, *, repeated: bool = False) -> Any:
    label = Proto.LABEL_REPEATED if repeated else Proto.LABEL_OPTIONAL
    return message.field.add(name=name, number=number, label=label, type=Proto.TYPE_MESSAGE, type_name=type_name)


def add_map(message: Any, package: str, name: str, number: int, value_type: str) -> None:
    entry_name = "".join(word.capitalize() for word in name.split("_")) + "Entry"
    entry = message.nested_type.add(name=entry_name)
    entry.options.map_entry = True
    entry.field.add(name="key", number=1, label=Proto.LABEL_OPTIONAL, type=Proto.TYPE_STRING)
    add_message_field(entry, "value", 2, value_type)
    add_message_field(message, name, number, f".{package}.{message.name}.{entry_name}", repeated=True)


def add_feature(file: Any, kinds: Mapping[int, str]) -> None:
    feature = file.message_type.add(name="Feature")
    feature.oneof_decl.add(name="kind")
    for number, kind in kinds.items():
        values = file.message_type.add(name=f"List{number}")
        value = values.field.add(name="value", number=1, label=Proto.LABEL_REPEATED, type=TYPES[kind])
        if kind != "bytes":
            value.options.packed = True
        add_message_field(feature, kind, number, f".{file.package}.List{number}").oneof_index = 0


def message_types() -> tuple[type[Message], type[Message], type[Message]]:
    """Return Example, SequenceExample (proto3) and OFRecord (proto2)."""
    pool = descriptor_pool.DescriptorPool()
    file = descriptor_pb2.FileDescriptorProto(name="example.proto", package="ex", syntax="proto3")
    add_feature(file, EXAMPLE_KINDS)
    add_map(file.message_type.add(name="Features"), "ex", "feature", 1, ".ex.Feature")
    add_message_field(file.message_type.add(name="FeatureList"), "feature", 1, ".ex.Feature", repeated=True)
    add_map(file.message_type.add(name="FeatureLists"), "ex", "feature_list", 1, ".ex.FeatureList")
    add_message_field(file.message_type.add(name="Example"), "features", 1, ".ex.Features")
    sequence = file.message_type.add(name="SequenceExample")
    add_message_field(sequence, "context", 1, ".ex.Features")
    add_message_field(sequence, "feature_lists", 2, ".ex.FeatureLists")
    pool.Add(file)
    file = descriptor_pb2.FileDescriptorProto(name="ofrecord.proto", package="of", syntax="proto2")
    add_feature(file, OFRECORD_KINDS)
    add_map(file.message_type.add(name="OFRecord"), "of", "feature", 1, ".of.Feature")
    pool.Add(file)
    names = ("ex.Example", "ex.SequenceExample", "of.OFRecord")
    example_type, sequence_type, ofrecord_type = (pool.FindMessageTypeByName(name) for name in names)
    get = message_factory.GetMessageClass
    return get(example_type), get(sequence_type), get(ofrecord_type)


EXAMPLE, SEQUENCE_EXAMPLE, OFRECORD = message_types()


def feature_of(message: Any) -> messages.Feature:
    kind = message.WhichOneof("kind")
    return (kind, list(getattr(message, kind).value)) if kind else (None, [])


def features_of(entries: Any) -> dict[str, Any]:
    return to_comparable({name: feature_of(value) for name, value in entries.items()})


def google_example(message: bytes) -> Comparable:
    return features_of(EXAMPLE.FromString(message).features.feature)


def google_ofrecord(message: bytes) -> Comparable:
    parsed = OFRECORD.FromString(message)
    try:
        return features_of(parsed.feature)
    except UnicodeDecodeError:  # parsed, but Python cannot show such keys
        return oracle_ofrecord(parsed.SerializeToString())


def google_sequence_example(message: bytes) -> Comparable:
    parsed = SEQUENCE_EXAMPLE.FromString(message)
    lists = parsed.feature_lists.feature_list
    steps = {name: [to_comparable({"": feature_of(step)}) for step in lists[name].feature] for name in lists}
    return features_of(parsed.context.feature), steps


def oracle_example(message: bytes) -> Comparable:
    return to_comparable(messages.decode_example(message))


def oracle_ofrecord(message: bytes) -> Comparable:
    return to_comparable(messages.decode_ofrecord(message, drop_unknown=True))


def oracle_sequence_example(message: bytes) -> Comparable:
    context, lists = messages.decode_sequence_example(message)
    return to_comparable(context), {
        name: [to_comparable({"": step}) for step in steps] for name, steps in lists.items()
    }


PAIRS = [
    pytest.param(google_example, oracle_example, id="example"),
    pytest.param(google_ofrecord, oracle_ofrecord, id="ofrecord"),
    pytest.param(google_sequence_example, oracle_sequence_example, id="sequence_example"),
]


def outcome(decode: Callable[[bytes], Comparable], message: bytes) -> Comparable | None:
    try:
        return decode(message)
    except (DecodeError, OracleError):
        return None


def any_messages() -> st.SearchStrategy[bytes]:
    odd = (
        strategies.unusual_examples(),
        strategies.unusual_ofrecords(),
        strategies.unusual_sequence_examples(),
    )
    return st.one_of(strategies.damaged_messages(), *(one.map(lambda drawn: drawn[0]) for one in odd))


def test_google_protobuf_here_is_the_upb_that_users_have() -> None:
    assert api_implementation.Type() == "upb"


@pytest.mark.parametrize("google, oracle", PAIRS)
@given(message=any_messages())
@example(message=b"\x7b\x00\x00\x7c")
def test_decode_of_any_message_agrees_with_google_protobuf(
    google: Callable[[bytes], Comparable], oracle: Callable[[bytes], Comparable], message: bytes
) -> None:
    assert outcome(oracle, message) == outcome(google, message)


@pytest.mark.deep
@pytest.mark.parametrize("google, oracle", PAIRS)
@settings(max_examples=350, deadline=None)
@given(message=any_messages())
def test_decode_of_many_messages_agrees_with_google_protobuf(
    google: Callable[[bytes], Comparable], oracle: Callable[[bytes], Comparable], message: bytes
) -> None:
    assert outcome(oracle, message) == outcome(google, message)


def without_order(message: bytes) -> tuple[int, bytes]:
    """Return length and sorted bytes of a message, which do not depend on the order of its map entries."""
    return len(message), bytes(sorted(message))


@given(strategies.examples())
def test_encode_example_differs_from_google_protobuf_in_entry_order_alone(features: Features) -> None:
    ours = messages.encode_example(features)
    theirs = EXAMPLE.FromString(ours).SerializeToString(deterministic=True)
    assert without_order(theirs) == without_order(ours)
    assert oracle_example(theirs) == to_comparable(features)


@given(strategies.ofrecords())
def test_encode_ofrecord_differs_from_google_protobuf_in_entry_order_alone(features: Features) -> None:
    ours = messages.encode_ofrecord(features)
    theirs = OFRECORD.FromString(ours).SerializeToString(deterministic=True)
    assert without_order(theirs) == without_order(ours)


@given(strategies.sequence_examples())
def test_encode_sequence_example_differs_from_google_protobuf_in_entry_order_alone(
    drawn: SequenceExample,
) -> None:
    ours = messages.encode_sequence_example(*drawn)
    theirs = SEQUENCE_EXAMPLE.FromString(ours).SerializeToString(deterministic=True)
    assert without_order(theirs) == without_order(ours)


@given(st.lists(st.text("ab/", min_size=3, max_size=3), unique=True))
def test_encode_example_of_keys_of_one_length_is_google_protobuf_byte_for_byte(names: list[str]) -> None:
    ours = messages.encode_example({name: ("int64", [1, -1]) for name in names})
    assert EXAMPLE.FromString(ours).SerializeToString(deterministic=True) == ours
