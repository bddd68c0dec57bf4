"""Hypothesis strategies for payloads, features, image headers, unusual encodings and damaged bytes.

Features have the form of `recordmill.testing.messages`: a dict of name to (kind, values).
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from hypothesis import strategies as st

from recordmill.testing.messages import (
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
from recordmill.testing.unusual_messages import (
    encode_unusual_example,
    encode_unusual_ofrecord,
    encode_unusual_sequence_example,
)

UNUSUAL_NAMES = ("", "a", "ab", "image", "image/encoded", "\0", "ü", "图像", "\U0001f600", "x" * 130)
UNUSUAL_FLOAT32 = (
    0.0,
    -0.0,
    float("inf"),
    float("-inf"),
    float("nan"),
    2.0**-149,
    float(np.finfo(np.float32).max),
)
UNUSUAL_FLOAT64 = (0.0, -0.0, float("inf"), float("-inf"), float("nan"), 5e-324, 1.7976931348623157e308, 0.1)


def payloads(max_pieces: int = 6) -> st.SearchStrategy[bytes]:
    """Draw one payload. Many are empty, or contain RecordIO's magic word at aligned and unaligned offsets."""
    piece = st.one_of(st.just(MAGIC), st.just(MAGIC[:3]), st.binary(max_size=9), st.binary(min_size=4, max_size=4))
    pieces = st.lists(piece, max_size=max_pieces)
    return st.one_of(pieces.map(b"".join), st.binary(max_size=300))


def payload_lists(*, min_payload_bytes: int = 0, max_records: int = 12) -> st.SearchStrategy[list[bytes]]:
    """Draw the payloads of a shard. OFRecord needs ``min_payload_bytes=1``, because it forbids empty payloads."""
    payload = payloads().filter(lambda data: len(data) >= min_payload_bytes)
    return st.lists(payload, max_size=max_records)


def values(kind: str) -> st.SearchStrategy[Value]:
    """Draw one value, often an extreme one. `kind` is a data type such as "int64"."""
    if kind == "bytes":
        return st.binary(max_size=20)
    if kind == "float32":
        return st.one_of(st.sampled_from(UNUSUAL_FLOAT32), st.floats(width=32))
    if kind == "float64":
        return st.one_of(st.sampled_from(UNUSUAL_FLOAT64), st.floats())
    top = 2**31 if kind == "int32" else 2**63
    return st.one_of(st.sampled_from((0, 1, -1, 127, 128, top - 1, -top)), st.integers(-top, top - 1))


def features(kinds: Mapping[int, str] = EXAMPLE_KINDS, *, max_values: int = 6) -> st.SearchStrategy[Feature]:
    """Draw one feature as (kind, values). The list of values may be empty. (None, []) is a feature without a kind."""
    kindless: st.SearchStrategy[Feature] = st.just((None, []))
    lists = [st.tuples(st.just(kind), st.lists(values(kind), max_size=max_values)) for kind in kinds.values()]
    return st.one_of(kindless, *lists)


def names() -> st.SearchStrategy[str]:
    """Draw one feature name: one of `UNUSUAL_NAMES`, or any text that is valid UTF-8."""
    return st.one_of(st.sampled_from(UNUSUAL_NAMES), st.text(st.characters(codec="utf-8"), max_size=6))


def examples(kinds: Mapping[int, str] = EXAMPLE_KINDS) -> st.SearchStrategy[Features]:
    """Draw one Example as a dict of names to features; one OFRecord if `kinds` is `OFRECORD_KINDS`."""
    return st.dictionaries(names(), features(kinds), max_size=5)


def ofrecords() -> st.SearchStrategy[Features]:
    """Draw one OFRecord as a dict of names to features. OFRecord forbids empty payloads, so the dict is not empty."""
    return st.dictionaries(names(), features(OFRECORD_KINDS), min_size=1, max_size=5)


def feature_lists() -> st.SearchStrategy[FeatureLists]:
    """Draw a dict of names to feature lists. A list may be empty, or contain features with different data types."""
    return st.dictionaries(names(), st.lists(features(max_values=3), max_size=4), max_size=3)


def sequence_examples() -> st.SearchStrategy[SequenceExample]:
    """Draw the context features and the feature lists of one SequenceExample."""
    return st.tuples(examples(), feature_lists())


@st.composite
def unusual_examples(draw: st.DrawFn) -> tuple[bytes, Features]:
    """Draw an Example as (encoding, features). The encoding is valid but unusual."""
    expected = draw(examples())
    return encode_unusual_example(expected, draw(st.randoms(use_true_random=False))), expected


@st.composite
def unusual_ofrecords(draw: st.DrawFn) -> tuple[bytes, Features]:
    """Draw an OFRecord as (encoding, features). The encoding is valid but unusual."""
    expected = draw(ofrecords())
    return encode_unusual_ofrecord(expected, draw(st.randoms(use_true_random=False))), expected


@st.composite
def unusual_sequence_examples(draw: st.DrawFn) -> tuple[bytes, SequenceExample]:
    """Draw a SequenceExample as (encoding, (context, feature lists)). The encoding is valid but unusual."""
    context, lists = draw(sequence_examples())
    return encode_unusual_sequence_example(context, lists, draw(st.randoms(use_true_random=False))), (context, lists)


def damaged_messages() -> st.SearchStrategy[bytes]:
    """Draw an encoded Example, SequenceExample or OFRecord with mutated bytes. The message may still be valid."""
    intact = st.one_of(
        examples().map(encode_example),
        ofrecords().map(encode_ofrecord),
        sequence_examples().map(lambda drawn: encode_sequence_example(*drawn)),
        unusual_examples().map(lambda drawn: drawn[0]),
        unusual_ofrecords().map(lambda drawn: drawn[0]),
        unusual_sequence_examples().map(lambda drawn: drawn[0]),
    )
    return intact.flatmap(mutations)


def image_headers() -> st.SearchStrategy[tuple[float | list[float], int, int, bytes]]:
    """Draw arguments of `image_header.pack`: one label or several, two ids, and data."""
    label = values("float32").filter(lambda value: isinstance(value, float))
    ids = st.one_of(st.sampled_from((0, 1, 2**63, 2**64 - 1)), st.integers(0, 2**64 - 1))
    labels: st.SearchStrategy[Any] = st.one_of(label, st.lists(label, min_size=1, max_size=8))
    return st.tuples(labels, ids, ids, payloads())


@st.composite
def chunks(draw: st.DrawFn, data: bytes) -> list[bytes]:
    """Split `data` at random offsets into chunks, which may be empty."""
    cuts = sorted(draw(st.lists(st.integers(0, len(data)), max_size=8)))
    return [data[start:end] for start, end in zip([0, *cuts], [*cuts, len(data)], strict=True)]


@st.composite
def mutations(draw: st.DrawFn, data: bytes) -> bytes:
    """Draw a copy of `data` with one to three random edits, such as a flipped bit, inserted bytes, or a truncation.

    The result can be equal to `data`.
    """
    for _ in range(draw(st.integers(1, 3))):
        offset = draw(st.integers(0, len(data)))
        data = draw(st.sampled_from(_MUTATIONS))(data, offset, draw(st.integers(1, 2**32 - 1)))
    return data


def _flip_bit(data: bytes, offset: int, word: int) -> bytes:
    return data[:offset] + bytes(byte ^ 1 << word % 8 for byte in data[offset : offset + 1]) + data[offset + 1 :]


def _set_byte(data: bytes, offset: int, word: int) -> bytes:
    return data[:offset] + bytes(word % 256 for _ in data[offset : offset + 1]) + data[offset + 1 :]


def _insert_bytes(data: bytes, offset: int, word: int) -> bytes:
    return data[:offset] + struct.pack("<I", word)[: 1 + word % 4] + data[offset:]


def _delete_bytes(data: bytes, offset: int, word: int) -> bytes:
    return data[:offset] + data[offset + 1 + word % 16 :]


def _clear_bytes(data: bytes, offset: int, word: int) -> bytes:
    return data[:offset] + bytes(len(data[offset : offset + word % 32])) + data[offset + word % 32 :]


def _truncate(data: bytes, offset: int, _: int) -> bytes:
    return data[:offset]


_MUTATIONS: tuple[Callable[[bytes, int, int], bytes], ...] = (
    _flip_bit,
    _set_byte,
    _insert_bytes,
    _delete_bytes,
    _clear_bytes,
    _truncate,
)
