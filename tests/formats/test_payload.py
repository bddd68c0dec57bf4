"""Test the message codecs with exact bytes of the specification and the conformance suite."""

from __future__ import annotations

from random import Random

import numpy as np

from recordmill.formats.ofrecord.payload import OFRECORD_MESSAGE
from recordmill.formats.tfrecord.payload import EXAMPLE, SEQUENCE_EXAMPLE
from recordmill.testing import messages, strategies, unusual_messages
from recordmill.testing.messages import EXAMPLE_KINDS, OFRECORD_KINDS, encode_sequence_example
from recordmill.testing.payload_suite import (
    Contents,
    PayloadTests,
    convert_feature_lists_to_reprs,
    convert_features_to_reprs,
)
from recordmill.types import FeatureList


def first_payload(pair: tuple[bytes, object]) -> bytes:
    return pair[0]


class TestExample(PayloadTests):
    """tf.train.Example."""

    codec = EXAMPLE
    kinds = EXAMPLE_KINDS
    decode = staticmethod(lambda payload: convert_features_to_reprs(messages.decode_example(payload)))
    encode = staticmethod(messages.encode_example)
    encode_unusual = staticmethod(unusual_messages.encode_unusual_example)
    canonical = staticmethod(lambda: strategies.examples().map(messages.encode_example))
    unusual = staticmethod(lambda: strategies.unusual_examples().map(first_payload))
    literals = (
        ({}, ""),
        ({"i": 7}, "0a0c 0a0a 0a0169 1205 1a03 0a0107"),
        ({"i": -1}, "0a15 0a13 0a0169 120e 1a0c 0a0a ffffffffffffffffff01"),
        ({"f": np.float32(0.5)}, "0a0f 0a0d 0a0166 1208 1206 0a040000003f"),
        ({"b": b"\x00\xff"}, "0a0d 0a0b 0a0162 1206 0a04 0a0200ff"),
        ({"i": np.zeros(0, np.int64)}, "0a09 0a07 0a0169 1202 1a00"),
        (
            {"b": 1, "a": 2, "ab": 3},
            "0a25 0a0b 0a026162 1205 1a030a0103 0a0a 0a0161 1205 1a030a0102 0a0a 0a0162 1205 1a030a0101",
        ),
    )


class TestOfrecord(PayloadTests):
    """OneFlow's OFRecord."""

    codec = OFRECORD_MESSAGE
    kinds = OFRECORD_KINDS
    decode = staticmethod(lambda payload: convert_features_to_reprs(messages.decode_ofrecord(payload)))
    encode = staticmethod(messages.encode_ofrecord)
    encode_unusual = staticmethod(unusual_messages.encode_unusual_ofrecord)
    canonical = staticmethod(lambda: strategies.ofrecords().map(messages.encode_ofrecord))
    unusual = staticmethod(lambda: strategies.unusual_ofrecords().map(first_payload))
    literals = (
        ({"labels": np.int32(-1)}, "0a18 0a066c6162656c73 120e 220c 0a0a ffffffffffffffffff01"),
        ({"l": np.int64(5)}, "0a0a 0a016c 1205 2a03 0a0105"),
        ({"d": np.float64(1.0)}, "0a11 0a0164 120c 1a0a 0a08 000000000000f03f"),
        ({"f": np.float32(1.0)}, "0a0d 0a0166 1208 1206 0a04 0000803f"),
        ({"images": b"\x89PNG"}, "0a12 0a06696d61676573 1208 0a06 0a0489504e47"),
    )


def sequence_contents(payload: bytes) -> Contents:
    context, lists = messages.decode_sequence_example(payload)
    return convert_features_to_reprs(context) | convert_feature_lists_to_reprs(lists)


class TestSequenceExample(PayloadTests):
    """tf.train.SequenceExample."""

    codec = SEQUENCE_EXAMPLE
    kinds = EXAMPLE_KINDS
    decode = staticmethod(sequence_contents)
    encode = staticmethod(lambda features: encode_sequence_example(features, {}))
    canonical = staticmethod(lambda: strategies.sequence_examples().map(lambda drawn: encode_sequence_example(*drawn)))
    unusual = staticmethod(lambda: strategies.unusual_sequence_examples().map(first_payload))
    literals = (
        ({}, ""),
        ({"n": 7}, "0a0c 0a0a 0a016e 1205 1a03 0a0107"),
        ({"t": FeatureList([1, 2])}, "1215 0a13 0a0174 120e 0a051a030a0101 0a051a030a0102"),
        ({"t": FeatureList([[1], [2, 3]])}, "1216 0a14 0a0174 120f 0a051a030a0101 0a061a040a020203"),
    )

    @staticmethod
    def encode_unusual(features: dict[str, tuple[str | None, list[object]]], rng: Random) -> bytes:
        return unusual_messages.encode_unusual_sequence_example(features, {}, rng)  # type: ignore[arg-type]
