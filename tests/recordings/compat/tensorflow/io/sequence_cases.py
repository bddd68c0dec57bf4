"""Calls of `parse_sequence_example` and `parse_single_sequence_example`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

if __package__:
    from .parsing_cases import feature
else:
    from parsing_cases import feature  # type: ignore[import-not-found, no-redef]

Cases = Iterator[tuple[str, Callable[[], Any]]]


def sequence(tf: Any, context: dict[str, Any], **lists: Any) -> bytes:
    """Return a serialized SequenceExample; frames are given as lists of values."""
    made = {
        name: tf.train.FeatureList(feature=[feature(tf, frame) for frame in frames]) for name, frames in lists.items()
    }
    message = tf.train.SequenceExample(
        context=tf.train.Features(feature={name: feature(tf, values) for name, values in context.items()}),
        feature_lists=tf.train.FeatureLists(feature_list=made),
    )
    return bytes(message.SerializeToString(deterministic=True))


def rows(tf: Any) -> list[bytes]:
    """Return records with frames of one and of different sizes, without frames, and without lists."""
    return [
        sequence(
            tf, {"c": [1, 2], "e": ("int64_list",), "t": [b"x"], "p": [0, 2]},
            a=[[1], [2]], r=[[1], [], [2, 3]], k=[[1], None, [2]], w=[[b"x"], [b"y"]], x=[[1], [2.0]], z=[],
            q=[[1.0, 2.0]], u=[[1], [0], [1, 1]],
        ),
        sequence(
            tf, {"c": [3, 4], "t": None, "p": [0, 2]},
            a=[[7], [8], [9]], r=[], k=[[4, 5]], w=[], q=[[3.0, 4.0], [5.0, 6.0]], u=[],
        ),
        sequence(tf, {"c": [5, 6], "p": [0, 2]}, a=[], q=[]),
    ]  # fmt: skip


def specs(tf: Any) -> dict[str, tuple[dict[str, Any] | None, dict[str, Any] | None]]:
    """Return what is asked of contexts and of frames."""
    io, i, f, s = tf.io, tf.int64, tf.float32, tf.string
    fixed, padded, sparse, ragged = io.FixedLenFeature, io.FixedLenSequenceFeature, io.VarLenFeature, io.RaggedFeature
    context = {
        "fixed": {"c": fixed([2], i)},
        "sparse": {"c": sparse(i), "z": sparse(s)},
        "ragged": {"c": ragged(i), "z": ragged(s)},
        "divided": {"c": ragged(i, partitions=[ragged.RowSplits("p")])},
        "default": {"d": fixed([], s, "none")},
        "missing": {"z": fixed([], i)},
        "too many": {"c": fixed([], i)},
        "empty with a default": {"e": fixed([], i, 1)},
        "another kind": {"c": fixed([2], f)},
        "another kind, sparse": {"c": sparse(s)},
        "another dtype": {"c": fixed([2], tf.int32)},
        "not for contexts": {"c": padded([], i, True)},
    }
    lists = {
        "padded": {"a": padded([], i)},
        "padded pairs": {"q": padded([2], f)},
        "padded, text missing in some": {"w": padded([], s, True)},
        "padded, missing": {"w": padded([], s)},
        "sparse": {"r": sparse(i)},
        "sparse without kinds": {"k": sparse(i)},
        "sparse, never there": {"none": sparse(i)},
        "ragged": {"r": ragged(i)},
        "ragged of 64 bits": {"r": ragged(i, row_splits_dtype=i)},
        "ragged, never there": {"none": ragged(i)},
        "divided": {"r": ragged(i, partitions=[ragged.RowLengths("u")])},
        "one length": {"q": ragged(f, partitions=[ragged.UniformRowLength(2)])},
        "frames of another size": {"r": padded([], i)},
        "frames without a kind": {"k": padded([], i)},
        "too few": {"a": padded([2], i)},
        "another kind": {"a": padded([], f)},
        "mixed kinds": {"x": padded([], i)},
        "mixed kinds, sparse": {"x": sparse(i)},
        "mixed kinds, ragged": {"x": ragged(f)},
        "padding": {"a": padded([], i, True, 5)},
        "not for frames": {"a": fixed([], i)},
        "indexed": {"a": io.SparseFeature("a", "w", s, 5)},
    }
    both = {"nothing": (None, None), "both": ({"c": fixed([2], i)}, {"a": padded([], i), "c": ragged(f)})}
    return (
        {f"context: {name}": (spec, None) for name, spec in context.items()}
        | {f"frames: {name}": (None, spec) for name, spec in lists.items()}
        | both
    )


def cases(tf: Any) -> Cases:
    """Yield names and calls."""
    given = rows(tf)
    for name, spec in specs(tf).items():
        yield f"batch, {name}", lambda spec=spec: tf.io.parse_sequence_example(given, *spec)
        yield f"first alone, {name}", lambda spec=spec: tf.io.parse_single_sequence_example(given[0], *spec)
        yield f"third alone, {name}", lambda spec=spec: tf.io.parse_single_sequence_example(given[2], *spec)
    frames = {"a": tf.io.FixedLenSequenceFeature([], tf.float32)}
    names = ["one", "two", "three"]
    yield "with names", lambda: tf.io.parse_sequence_example(given, None, frames, names)
    yield "no message", lambda: tf.io.parse_sequence_example([b"\x0a\x10abc"], None, frames)
    yield "one in place of a batch", lambda: tf.io.parse_sequence_example(given[0], *specs(tf)["both"])
    yield "batch in place of one", lambda: tf.io.parse_single_sequence_example(given, None, frames)
