"""Calls that put features together: values with their indices, and values divided into rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

if __package__:
    from .parsing_cases import example
else:
    from parsing_cases import example  # type: ignore[import-not-found, no-redef]

Cases = Iterator[tuple[str, Callable[[], Any]]]


def indexed(tf: Any) -> dict[str, list[bytes]]:
    """Return records with values and indices."""
    sound = example(tf, i=[5, 1, 3], j=[0, 1, 0], v=[0.5, 0.25, 0.75])
    twice = example(tf, i=[2, 2], j=[1, 0], v=[1.0, 2.0])
    return {
        "one": [sound],
        "several": [sound, twice, example(tf)],
        "outside": [example(tf, i=[20, -3], j=[0, 0], v=[1.0, 2.0])],
        "fewer indices": [example(tf, i=[1], v=[1.0, 2.0])],
        "no values": [example(tf, i=[1, 2])],
    }


def sparse_specs(tf: Any) -> dict[str, Any]:
    """Return what is asked of indexed values."""
    sparse, f = tf.io.SparseFeature, tf.float32
    return {
        "one axis": {"s": sparse("i", "v", f, 10)},
        "one axis in a list": {"s": sparse(["i"], "v", f, [10])},
        "two axes": {"s": sparse(["i", "j"], "v", f, [10, 2])},
        "two axes the other way": {"s": sparse(["j", "i"], "v", f, [2, 10])},
        "as they stand": {"s": sparse("i", "v", f, 10, True)},
        "with its parts": {
            "s": sparse("i", "v", f, 10),
            "v": tf.io.VarLenFeature(f),
            "i": tf.io.VarLenFeature(tf.int64),
        },
    }


def refused_specs(tf: Any) -> dict[str, Any]:
    """Return what cannot be asked for."""
    io, i, f = tf.io, tf.int64, tf.float32
    return {
        "fewer sizes": {"s": io.SparseFeature(["i", "j"], "v", f, [10])},
        "one size for several": {"s": io.SparseFeature(["i", "j"], "v", f, 10)},
        "sizes for one": {"s": io.SparseFeature("i", "v", f, [10])},
        "no index": {"s": io.SparseFeature("", "v", f, 10)},
        "no value": {"s": io.SparseFeature("i", "", f, 10)},
        "two types of one": {"s": io.SparseFeature("i", "v", f, 10), "v": io.VarLenFeature(i)},
        "sparse and ragged": {"i": io.RaggedFeature(i), "s": io.SparseFeature("i", "v", f, 10)},
        "dense and sparse": {"i": io.FixedLenFeature([], i), "s": io.SparseFeature("i", "v", f, 10)},
        "two ragged types of one": {"a": io.RaggedFeature(f, "i"), "b": io.RaggedFeature(i, "i")},
        "two row types of one": {"a": io.RaggedFeature(i, "i", row_splits_dtype=i), "b": io.RaggedFeature(i, "i")},
    }


def divided(tf: Any) -> list[bytes]:
    """Return records whose values other features divide into rows."""
    return [
        example(
            tf, v=[0, 1, 2, 3, 4, 5], splits=[0, 2, 2, 6], lengths=[2, 0, 4], starts=[0, 2, 2], limits=[2, 2, 6],
            ids=[0, 0, 2, 2, 2, 2], outer=[0, 1, 3], short=[0, 2], beyond=[0, 9], falling=[0, 4, 2, 6], late=[-1, 6],
        ),
        example(
            tf, v=[7, 8], splits=[0, 1, 2], lengths=[1, 1], starts=[0, 1], limits=[1, 2], ids=[1, 1], outer=[0, 2],
            short=[0, 1], beyond=[0, 9], falling=[0, 2], late=[0, 2],
        ),
        example(tf),
    ]  # fmt: skip


def partitions(tf: Any) -> dict[str, list[Any]]:
    """Return ways to divide."""
    r = tf.io.RaggedFeature
    return {
        "splits": [r.RowSplits("splits")],
        "lengths": [r.RowLengths("lengths")],
        "starts": [r.RowStarts("starts")],
        "limits": [r.RowLimits("limits")],
        "row numbers": [r.ValueRowIds("ids")],
        "one length": [r.UniformRowLength(2)],
        "twice": [r.RowSplits("outer"), r.RowLengths("lengths")],
        "one length twice": [r.UniformRowLength(1), r.UniformRowLength(2)],
        "one length around": [r.UniformRowLength(1), r.RowSplits("splits")],
        "one length inside": [r.RowSplits("short"), r.UniformRowLength(2)],
        "some left out": [r.RowSplits("short")],
        "beyond the values": [r.RowSplits("beyond")],
        "falling": [r.RowSplits("falling")],
        "a late begin": [r.RowSplits("late")],
        "nothing that divides": [r.RowLengths("none")],
        "a length that does not come out": [r.UniformRowLength(4)],
        "a length of nothing": [r.UniformRowLength(0)],
    }


def _ragged_arguments(tf: Any) -> list[dict[str, Any]]:
    i = tf.int64
    return [
        {"dtype": tf.int32},
        {"dtype": i, "value_key": ""},
        {"dtype": i, "value_key": 3},
        {"dtype": i, "partitions": 3},
        {"dtype": i, "row_splits_dtype": tf.uint8},
        {"dtype": i, "validate": 3},
    ]


def cases(tf: Any) -> Cases:
    """Yield names and calls."""
    for kind, records in indexed(tf).items():
        for name, spec in sparse_specs(tf).items():
            yield f"indexed, {kind}: {name}", lambda records=records, spec=spec: tf.io.parse_example(records, spec)
            yield (
                f"indexed alone, {kind}: {name}",
                lambda records=records, spec=spec: tf.io.parse_single_example(records[0], spec),
            )
    for name, spec in refused_specs(tf).items():
        yield f"refused: {name}", lambda spec=spec: tf.io.parse_example(indexed(tf)["one"], spec)
    for arguments in _ragged_arguments(tf):
        name = ", ".join(f"{key}={value}" for key, value in arguments.items())
        yield f"refused: {name}", lambda arguments=arguments: tf.io.RaggedFeature(**arguments)
    records = divided(tf)
    for validate in (False, True):
        for name, ways in partitions(tf).items():
            spec = {"v": tf.io.RaggedFeature(tf.int64, partitions=ways, validate=validate)}
            title = f"{name}, validate={validate}"
            yield f"divided: {title}", lambda spec=spec: tf.io.parse_example(records, spec)
            yield f"divided alone: {title}", lambda spec=spec: tf.io.parse_single_example(records[0], spec)
