"""Hypothesis strategies for payloads, features, image headers, odd encodings, and ways to cut or damage.

Features have the form that `protobuf` reads and writes: a dict of name to (kind, values).
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from hypothesis import strategies as st

from recordmill.testing.protobuf import (
    EXAMPLE_KINDS,
    OFRECORD_KINDS,
    Feature,
    FeatureLists,
    Features,
    SequenceExample,
    Value,
    encode_example,
    encode_ofrecord,
    encode_sequence_example,
)
from recordmill.testing.recordio import MAGIC
from recordmill.testing.unusual import odd_example, odd_ofrecord, odd_sequence_example

ODD_NAMES = ("", "a", "ab", "image", "image/encoded", "\0", "ü", "图像", "\U0001f600", "x" * 130)
FLOAT32_ODD = (
    0.0,
    -0.0,
    float("inf"),
    float("-inf"),
    float("nan"),
    2.0**-149,
    float(np.finfo(np.float32).max),
)
FLOAT64_ODD = (0.0, -0.0, float("inf"), float("-inf"), float("nan"), 5e-324, 1.7976931348623157e308, 0.1)


def payloads(max_pieces: int = 6) -> st.SearchStrategy[bytes]:
    """Draw byte strings, often empty, often with RecordIO's magic word at aligned and unaligned places."""
    piece = st.one_of(st.just(MAGIC), st.just(MAGIC[:3]), st.binary(max_size=9), st.binary(min_size=4, max_size=4))
    pieces = st.lists(piece, max_size=max_pieces)
    return st.one_of(pieces.map(b"".join), st.binary(max_size=300))


def payload_lists(*, min_payload_bytes: int = 0, max_records: int = 12) -> st.SearchStrategy[list[bytes]]:
    """Draw the contents of a shard; OFRecord needs `min_payload_bytes` of 1."""
    payload = payloads().filter(lambda data: len(data) >= min_payload_bytes)
    return st.lists(payload, max_size=max_records)


def values(kind: str) -> st.SearchStrategy[Value]:
    """Draw values of one kind, extremes and odd floats among them."""
    if kind == "bytes":
        return st.binary(max_size=20)
    if kind == "float32":
        return st.one_of(st.sampled_from(FLOAT32_ODD), st.floats(width=32))
    if kind == "float64":
        return st.one_of(st.sampled_from(FLOAT64_ODD), st.floats())
    top = 2**31 if kind == "int32" else 2**63
    return st.one_of(st.sampled_from((0, 1, -1, 127, 128, top - 1, -top)), st.integers(-top, top - 1))


def features(kinds: Mapping[int, str] = EXAMPLE_KINDS, *, max_values: int = 6) -> st.SearchStrategy[Feature]:
    """Draw one feature of any kind, without values, or without a kind."""
    kindless: st.SearchStrategy[Feature] = st.just((None, []))
    lists = [st.tuples(st.just(kind), st.lists(values(kind), max_size=max_values)) for kind in kinds.values()]
    return st.one_of(kindless, *lists)


def names() -> st.SearchStrategy[str]:
    """Draw names of features: odd ones, and any text that UTF-8 can hold."""
    return st.one_of(st.sampled_from(ODD_NAMES), st.text(st.characters(codec="utf-8"), max_size=6))


def examples(kinds: Mapping[int, str] = EXAMPLE_KINDS) -> st.SearchStrategy[Features]:
    """Draw the features of one Example; with `OFRECORD_KINDS` of one OFRecord."""
    return st.dictionaries(names(), features(kinds), max_size=5)


def ofrecords() -> st.SearchStrategy[Features]:
    """Draw the features of one OFRecord, at least one, as its framing cannot hold an empty message."""
    return st.dictionaries(names(), features(OFRECORD_KINDS), min_size=1, max_size=5)


def feature_lists() -> st.SearchStrategy[FeatureLists]:
    """Draw the feature lists of one SequenceExample, some without steps, kinds mixed."""
    return st.dictionaries(names(), st.lists(features(max_values=3), max_size=4), max_size=3)


def sequence_examples() -> st.SearchStrategy[SequenceExample]:
    """Draw context and feature lists of one SequenceExample."""
    return st.tuples(examples(), feature_lists())


@st.composite
def unusual_examples(draw: st.DrawFn) -> tuple[bytes, Features]:
    """Draw a legal but odd encoding of an Example, and its features."""
    expected = draw(examples())
    return odd_example(expected, draw(st.randoms(use_true_random=False))), expected


@st.composite
def unusual_ofrecords(draw: st.DrawFn) -> tuple[bytes, Features]:
    """Draw a legal but odd encoding of an OFRecord, and its features."""
    expected = draw(ofrecords())
    return odd_ofrecord(expected, draw(st.randoms(use_true_random=False))), expected


@st.composite
def unusual_sequence_examples(draw: st.DrawFn) -> tuple[bytes, SequenceExample]:
    """Draw a legal but odd encoding of a SequenceExample, and its context and feature lists."""
    context, lists = draw(sequence_examples())
    return odd_sequence_example(context, lists, draw(st.randoms(use_true_random=False))), (context, lists)


def damaged_messages() -> st.SearchStrategy[bytes]:
    """Draw messages of all three types, canonical or odd, with something changed; not all become illegal."""
    sound = st.one_of(
        examples().map(encode_example),
        ofrecords().map(encode_ofrecord),
        sequence_examples().map(lambda drawn: encode_sequence_example(*drawn)),
        unusual_examples().map(lambda drawn: drawn[0]),
        unusual_ofrecords().map(lambda drawn: drawn[0]),
        unusual_sequence_examples().map(lambda drawn: drawn[0]),
    )
    return sound.flatmap(mutations)


def irheaders() -> st.SearchStrategy[tuple[float | list[float], int, int, bytes]]:
    """Draw arguments of `irheader.pack`: a label or a list of them, two ids, data."""
    label = values("float32").filter(lambda value: isinstance(value, float))
    ids = st.one_of(st.sampled_from((0, 1, 2**63, 2**64 - 1)), st.integers(0, 2**64 - 1))
    labels: st.SearchStrategy[Any] = st.one_of(label, st.lists(label, min_size=1, max_size=8))
    return st.tuples(labels, ids, ids, payloads())


@st.composite
def chunks(draw: st.DrawFn, data: bytes) -> list[bytes]:
    """Cut `data` into pieces, some of them empty or a byte long."""
    cuts = sorted(draw(st.lists(st.integers(0, len(data)), max_size=8)))
    return [data[start:end] for start, end in zip([0, *cuts], [*cuts, len(data)], strict=True)]


@st.composite
def mutations(draw: st.DrawFn, data: bytes) -> bytes:
    """Change `data` one to three times: a bit, a byte, a range of zeros, bytes more or fewer, an end cut off.

    The result may by chance equal `data`.
    """
    for _ in range(draw(st.integers(1, 3))):
        at = draw(st.integers(0, len(data)))
        data = draw(st.sampled_from(_MUTATIONS))(data, at, draw(st.integers(1, 2**32 - 1)))
    return data


def _flip_bit(data: bytes, at: int, drawn: int) -> bytes:
    return data[:at] + bytes(byte ^ 1 << drawn % 8 for byte in data[at : at + 1]) + data[at + 1 :]


def _set_byte(data: bytes, at: int, drawn: int) -> bytes:
    return data[:at] + bytes(drawn % 256 for _ in data[at : at + 1]) + data[at + 1 :]


def _insert(data: bytes, at: int, drawn: int) -> bytes:
    return data[:at] + struct.pack("<I", drawn)[: 1 + drawn % 4] + data[at:]


def _delete(data: bytes, at: int, drawn: int) -> bytes:
    return data[:at] + data[at + 1 + drawn % 16 :]


def _zero(data: bytes, at: int, drawn: int) -> bytes:
    return data[:at] + bytes(len(data[at : at + drawn % 32])) + data[at + drawn % 32 :]


def _cut(data: bytes, at: int, _: int) -> bytes:
    return data[:at]


_MUTATIONS: tuple[Callable[[bytes, int, int], bytes], ...] = (
    _flip_bit,
    _set_byte,
    _insert,
    _delete,
    _zero,
    _cut,
)
