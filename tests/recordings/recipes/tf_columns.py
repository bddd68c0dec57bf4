"""Batches of Examples as tf.io.parse_example returns them: dense, padded, sparse and ragged columns, and its errors."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import tensorflow as tf

from recipes.edges import feature
from recipes.tf_errors import error_json
from recipes.tf_examples import example_message
from recipes.tf_framing import write
from recipes.values import float32_bits, write_json

INTS, FLOATS, RAW = "int64_list", "float_list", "bytes_list"
DTYPES = {"string": tf.string, "float32": tf.float32, "int64": tf.int64}
SPELL = {"string": bytes.hex, "float32": float32_bits, "int64": int}


def rows() -> list[dict[str, Any]]:
    """Return four Examples in JSON form; `maybe` is absent, without a kind, and empty in turn."""
    return [
        {
            "id": feature(INTS, [10]),
            "xy": feature(FLOATS, ["3f800000", "40000000"]),
            "name": feature(RAW, [b"first".hex()]),
            "tokens": feature(INTS, [1, 2, 3, 4]),
            "scores": feature(FLOATS, ["3dcccccd"]),
            "words": feature(RAW, [b"a".hex(), b"bc".hex()]),
            "maybe": feature(INTS, [7]),
        },
        {
            "id": feature(INTS, [-11]),
            "xy": feature(FLOATS, ["7fc00000", "ff800000"]),
            "name": feature(RAW, [""]),
            "tokens": feature(INTS, []),
            "scores": feature(FLOATS, []),
            "words": feature(RAW, []),
        },
        {
            "id": feature(INTS, [2**63 - 1]),
            "xy": feature(FLOATS, ["80000000", "00000001"]),
            "name": feature(RAW, [b"third\0".hex()]),
            "tokens": feature(INTS, [5, 6]),
            "scores": feature(FLOATS, ["3f000000", "3f400000", "3f600000"]),
            "words": feature(RAW, [b"d".hex()]),
            "maybe": feature(None, []),
        },
        {
            "id": feature(INTS, [0]),
            "xy": feature(FLOATS, ["00000000", "00000000"]),
            "name": feature(RAW, [b"fourth".hex()]),
            "tokens": feature(INTS, [7, 8, 9, 10, 11, 12]),
            "words": feature(RAW, ["", "", "ff"]),
            "maybe": feature(INTS, []),
        },
    ]


def specs() -> dict[str, dict[str, Any]]:
    """Return the columns asked for, by the name of the case; each holds the key and the feature's settings."""
    fixed, padded = {"form": "fixed"}, {"form": "padded"}
    return {
        "fixed, one value": {"key": "id", **fixed, "dtype": "int64", "shape": []},
        "fixed, one value as a vector": {"key": "id", **fixed, "dtype": "int64", "shape": [1]},
        "fixed, two values": {"key": "xy", **fixed, "dtype": "float32", "shape": [2]},
        "fixed, two values as a matrix": {"key": "xy", **fixed, "dtype": "float32", "shape": [1, 2]},
        "fixed text": {"key": "name", **fixed, "dtype": "string", "shape": []},
        "fixed, wrong count": {"key": "xy", **fixed, "dtype": "float32", "shape": [3]},
        "fixed, wrong kind": {"key": "xy", **fixed, "dtype": "int64", "shape": [2]},
        "fixed, missing": {"key": "maybe", **fixed, "dtype": "int64", "shape": []},
        "fixed, missing with a default": {"key": "absent", **fixed, "dtype": "int64", "shape": [], "default": -1},
        "fixed, empty list with a default": {"key": "maybe", **fixed, "dtype": "int64", "shape": [], "default": -1},
        "padded integers": {"key": "tokens", **padded, "dtype": "int64", "shape": []},
        "padded with a value": {"key": "tokens", **padded, "dtype": "int64", "shape": [], "default": -9},
        "padded pairs": {"key": "tokens", **padded, "dtype": "int64", "shape": [2]},
        "padded threes": {"key": "tokens", **padded, "dtype": "int64", "shape": [3]},
        "padded floats": {"key": "scores", **padded, "dtype": "float32", "shape": []},
        "padded text": {"key": "words", **padded, "dtype": "string", "shape": []},
        "padded, never there": {"key": "absent", **padded, "dtype": "int64", "shape": []},
        "ragged integers": {"key": "tokens", "form": "ragged", "dtype": "int64"},
        "ragged floats": {"key": "scores", "form": "ragged", "dtype": "float32"},
        "ragged text": {"key": "words", "form": "ragged", "dtype": "string"},
        "ragged, sometimes there": {"key": "maybe", "form": "ragged", "dtype": "int64"},
        "sparse integers": {"key": "tokens", "form": "sparse", "dtype": "int64"},
        "sparse, sometimes there": {"key": "maybe", "form": "sparse", "dtype": "int64"},
        "sparse, wrong kind": {"key": "tokens", "form": "sparse", "dtype": "string"},
    }


def feature_spec(spec: dict[str, Any]) -> Any:
    """Return TensorFlow's feature object for a column's settings."""
    dtype, shape, default = DTYPES[spec["dtype"]], spec.get("shape"), spec.get("default")
    if spec["form"] == "fixed":
        return tf.io.FixedLenFeature(shape, dtype, default)
    if spec["form"] == "padded":
        return tf.io.FixedLenSequenceFeature(shape, dtype, allow_missing=True, default_value=default)
    if spec["form"] == "ragged":
        return tf.io.RaggedFeature(dtype)
    return tf.io.VarLenFeature(dtype)


def dense_json(array: Any, dtype: str) -> dict[str, Any]:
    """Return the shape and the flat values of a dense tensor."""
    return {"shape": list(array.shape), "values": [SPELL[dtype](value) for value in array.numpy().reshape(-1)]}


def tensor_json(found: Any, dtype: str) -> dict[str, Any]:
    """Return the parts of a dense, sparse or ragged tensor."""
    if isinstance(found, tf.RaggedTensor):
        values = [SPELL[dtype](value) for value in found.flat_values.numpy()]
        return {"row_splits": [splits.numpy().tolist() for splits in found.nested_row_splits], "values": values}
    if isinstance(found, tf.SparseTensor):
        values = [SPELL[dtype](value) for value in found.values.numpy()]
        return {
            "indices": found.indices.numpy().tolist(),
            "shape": found.dense_shape.numpy().tolist(),
            "values": values,
        }
    return dense_json(found, dtype)


def _parse(payloads: list[bytes], spec: dict[str, Any]) -> dict[str, Any]:
    try:
        found = tf.io.parse_example(payloads, {spec["key"]: feature_spec(spec)})[spec["key"]]
    except tf.errors.OpError as error:
        return {"error": error_json(error)}
    return tensor_json(found, spec["dtype"])


def record(out: Path) -> None:
    """Write OUT/columns: columns.tfrecord, its records in expected.json, the columns in columns.json."""
    folder = out / "columns"
    folder.mkdir(parents=True, exist_ok=True)
    payloads = [example_message(row).SerializeToString(deterministic=True) for row in rows()]
    write(folder / "columns.tfrecord", list(payloads))
    row = {"path": "columns.tfrecord", "compression": "", "records": [raw.hex() for raw in payloads]}
    write_json(folder / "expected.json", {"files": [{**row, "examples": rows()}]})
    cases = [{"name": name, **spec, "found": _parse(payloads, spec)} for name, spec in specs().items()]
    write_json(folder / "columns.json", {"path": "columns.tfrecord", "columns": cases})
