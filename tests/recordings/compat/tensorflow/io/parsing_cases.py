"""Calls of `parse_example` and `parse_single_example`: every kind of feature, and what is refused."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

Cases = Iterator[tuple[str, Callable[[], Any]]]


def feature(tf: Any, values: Any) -> Any:
    """Return a feature of a list of values; None has no kind, an empty tuple is ``(kind,)``."""
    if values is None:
        return tf.train.Feature()
    if values and isinstance(values[0], str):
        return tf.train.Feature(**{values[0]: {}})
    if values and isinstance(values[0], bytes):
        return tf.train.Feature(bytes_list=tf.train.BytesList(value=values))
    if values and isinstance(values[0], float):
        return tf.train.Feature(float_list=tf.train.FloatList(value=values))
    return tf.train.Feature(int64_list=tf.train.Int64List(value=values))


def example(tf: Any, **features: Any) -> bytes:
    """Return a serialized Example."""
    made = tf.train.Features(feature={name: feature(tf, values) for name, values in features.items()})
    return bytes(tf.train.Example(features=made).SerializeToString(deterministic=True))


def rows(tf: Any) -> list[bytes]:
    """Return records that lack features, hold empty ones, and ones of different lengths."""
    return [
        example(tf, n=[1], f=[1.5, -0.0], s=[b"x"], m=[1, 2, 3], w=[b"a", b"bc"], e=("int64_list",), d=[5], r=[4, 5]),
        example(tf, n=[-(2**63)], f=[float("nan"), float("inf")], s=[b""], m=[], w=[b""], k=None, r=[6]),
        example(tf, n=[7], f=[0.1, 2.0], s=[b"\0\xff"], m=[4], d=None, w=[b"d"] * 4, e=("float_list",), r=[1, 2, 3]),
    ]


def specs(tf: Any) -> dict[str, Any]:
    """Return what is asked for."""
    io, i, f, s = tf.io, tf.int64, tf.float32, tf.string
    fixed, padded, sparse, ragged = (
        io.FixedLenFeature,
        io.FixedLenSequenceFeature,
        io.VarLenFeature,
        io.RaggedFeature,
    )
    return {
        "scalar": {"n": fixed([], i)},
        "vector of one": {"n": fixed([1], i)},
        "length instead of shape": {"f": fixed(2, f)},
        "matrix": {"f": fixed([1, 2], f)},
        "text": {"s": fixed((), s)},
        "dtype by name": {"n": fixed([], "int64")},
        "default": {"d": fixed([], i, -1)},
        "default of two": {"z": fixed([2], f, [0.5, 1.0])},
        "default matrix of text": {"z": fixed([1, 2], s, [["a", b"b"]])},
        "default and no kind": {"k": fixed([], s, "none")},
        "empty shape": {"z": fixed([0], i, [])},
        "padded": {"m": padded([], i, True)},
        "padded with a value": {"m": padded([], i, True, -9)},
        "padded text": {"w": padded([], s, True, b"?")},
        "padded pairs": {"w": padded([2], s, True)},
        "padded, never there": {"z": padded([3], f, True)},
        "sparse": {"m": sparse(i)},
        "sparse text": {"w": sparse(s)},
        "sparse, never there": {"z": sparse(f)},
        "ragged": {"m": ragged(i)},
        "ragged of 64 bits": {"r": ragged(i, row_splits_dtype=i)},
        "ragged text by key": {"words": ragged(s, value_key="w")},
        "ragged, never there": {"z": ragged(s)},
        "all kinds together": {"s": fixed([], s), "m": sparse(i), "r": ragged(i), "f": padded([], f, True)},
        "missing": {"z": fixed([], i)},
        "missing in some": {"d": fixed([], i)},
        "too many": {"f": fixed([], f)},
        "too few": {"f": fixed([3], f)},
        "too many strings": {"w": fixed([1], s)},
        "another kind": {"n": fixed([], f)},
        "another kind, text": {"n": fixed([], s)},
        "another kind, sparse": {"n": sparse(s)},
        "another kind, ragged": {"n": ragged(f)},
        "another kind, padded": {"n": padded([], f, True)},
        "empty with a default": {"e": fixed([], i, 3)},
        "blocks that do not come out": {"m": padded([2], i, True)},
        "blocks of text that do not come out": {"w": padded([3], s, True)},
        "another dtype": {"n": fixed([], tf.int32)},
        "another dtype, sparse": {"n": sparse(tf.uint8)},
        "not allowed to be missing": {"n": padded([], i)},
        "nothing": {},
        "no feature": {"n": 3},
        "no shape": {"n": fixed(None, i)},
        "unknown length": {"n": fixed([None], i)},
        "unknown inner length": {"n": fixed([2, None], i)},
        "default of another size": {"z": fixed([2], i, [1, 2, 3])},
        "default that would be broadcast": {"z": fixed([2], i, 7)},
        "default of another kind": {"z": fixed([], i, 1.5)},
        "padding of several": {"n": padded([], i, True, [1, 2])},
        "two faults, the last feature first": {"n": fixed([], f), "s": fixed([], f)},
    }


def cases(tf: Any) -> Cases:
    """Yield names and calls."""
    given = rows(tf)
    for name, spec in specs(tf).items():
        yield f"batch: {name}", lambda spec=spec: tf.io.parse_example(given, spec)
        yield f"first alone: {name}", lambda spec=spec: tf.io.parse_single_example(given[0], spec)
    names = {"example_names": ["one", "two", "three"]}
    for name in ("missing in some", "too few", "another kind"):
        yield f"with names: {name}", lambda name=name: tf.io.parse_example(given, specs(tf)[name], **names)
        yield (
            f"alone with a name: {name}",
            lambda name=name: tf.io.parse_single_example(given[0], specs(tf)[name], "one"),
        )
    scalar = {"n": tf.io.FixedLenFeature([], tf.int64)}
    yield "one in place of a batch", lambda: tf.io.parse_example(given[1], scalar)
    yield "batch in place of one", lambda: tf.io.parse_single_example(given, scalar)
    yield "two axes", lambda: tf.io.parse_example([given], scalar)
    yield "no message", lambda: tf.io.parse_example([given[0], b"\x0a\x10abc"], scalar)
    yield "no message, alone", lambda: tf.io.parse_single_example(b"\x0a\x10abc", scalar)
    yield "no features given", lambda: tf.io.parse_example(given, None)
    yield "no features given, alone", lambda: tf.io.parse_single_example(given[0], None)
    for name in ("scalar", "matrix", "text", "padded", "padded pairs", "sparse", "ragged"):
        yield f"empty record: {name}", lambda name=name: tf.io.parse_example([b"", b""], specs(tf)[name])
