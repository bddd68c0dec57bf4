"""What the native serializer writes, judged by Google's protobuf: byte for byte its deterministic form."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given, strategies as st

from recordmill.formats.native import NativeCodec
from recordmill.formats.ofrecord.payload import OFRECORD_MESSAGE
from recordmill.formats.tfrecord.payload import EXAMPLE, SEQUENCE_EXAMPLE
from recordmill.schema import Feature, Schema
from recordmill.testing import strategies
from recordmill.testing.messages import EXAMPLE_KINDS, OFRECORD_KINDS, Features
from recordmill.testing.payload_suite import build_writer_schema, to_writer_values
from recordmill.types import FeatureList
from tests.oracle import test_oracle_against_google_protobuf as google

NESTED_NAMES = ["", "a", "ab", "abc", "b", "a/", "a/b", "\0", "a\0", "é", "éa", "\uffff", "\U00010000", "x" * 130]


def with_kinds(features: Features) -> Features:
    return {name: feature for name, feature in features.items() if feature[0]}


def fill_message(entries: Any, features: Mapping[str, Any]) -> None:
    for name, (kind, values) in features.items():
        entries[name].SetInParent()
        getattr(entries[name], kind).SetInParent()
        getattr(entries[name], kind).value.extend(values)


def google_bytes(codec: NativeCodec, features: Features, lists: Mapping[str, Any]) -> bytes:
    message: Any = {"example": google.EXAMPLE, "ofrecord": google.OFRECORD}.get(codec.name, google.SEQUENCE_EXAMPLE)()
    if codec is EXAMPLE:
        fill_message(message.features.feature, features)
    elif codec is OFRECORD_MESSAGE:
        fill_message(message.feature, features)
    else:
        fill_message(message.context.feature, features)
        for name, (kind, frames) in lists.items():
            message.feature_lists.feature_list[name].SetInParent()
            for values in frames:
                frame = message.feature_lists.feature_list[name].feature.add()
                getattr(frame, kind).SetInParent()
                getattr(frame, kind).value.extend(values)
    return message.SerializeToString(deterministic=True)


def serialize_with_codec(codec: NativeCodec, features: Features) -> bytes:
    example = {name: to_writer_values(kind or "", values) for name, (kind, values) in features.items()}
    return codec.serialize([example], build_writer_schema(features), 0)[0]


@pytest.mark.parametrize(
    "codec, kinds", [(EXAMPLE, EXAMPLE_KINDS), (OFRECORD_MESSAGE, OFRECORD_KINDS)], ids=["ex", "of"]
)
@given(data=st.data())
def test_serialize_equals_google_protobuf(codec: NativeCodec, kinds: Mapping[int, str], data: st.DataObject) -> None:
    features = with_kinds(data.draw(strategies.examples(kinds)))
    assert serialize_with_codec(codec, features) == google_bytes(codec, features, {})


@pytest.mark.parametrize("codec", [EXAMPLE, OFRECORD_MESSAGE, SEQUENCE_EXAMPLE], ids=lambda codec: codec.name)
@given(names=st.lists(st.one_of(st.sampled_from(NESTED_NAMES), st.text("ab", max_size=4)), unique=True, max_size=9))
def test_serialize_orders_keys_like_google_protobuf(codec: NativeCodec, names: list[str]) -> None:
    features: Features = {name: ("int64", [number]) for number, name in enumerate(names)}
    assert serialize_with_codec(codec, features) == google_bytes(codec, features, {})


@given(data=st.data())
def test_serialize_of_sequences_equals_google_protobuf(
    data: st.DataObject,
) -> None:
    context = with_kinds(data.draw(strategies.examples()))
    names = data.draw(st.lists(strategies.names().filter(lambda name: name not in context), unique=True, max_size=3))
    lists = {}
    for name in names:
        kind = data.draw(st.sampled_from(("bytes", "float32", "int64")))
        lists[name] = (kind, data.draw(st.lists(st.lists(strategies.values(kind), max_size=3), max_size=4)))
    kinds = dict(build_writer_schema(context))
    kinds |= {name: Feature(kind, (None, None), sequence=True, optional=True) for name, (kind, _) in lists.items()}
    example = {name: to_writer_values(kind or "", values) for name, (kind, values) in context.items()}
    example |= {
        name: FeatureList([to_writer_values(kind, row) for row in frames]) for name, (kind, frames) in lists.items()
    }
    found = SEQUENCE_EXAMPLE.serialize([example], Schema(kinds), 0)[0]
    assert found == google_bytes(SEQUENCE_EXAMPLE, context, lists)
