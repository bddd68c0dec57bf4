"""SequenceExamples as protobuf reads them, and as tf.io.parse_sequence_example pads them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import tensorflow as tf

from recipes.edges import feature
from recipes.tf_columns import feature_spec, tensor_json
from recipes.tf_errors import error_json
from recipes.tf_examples import sequence_message
from recipes.tf_framing import write
from recipes.values import sequence_json, write_json

INTS, FLOATS, RAW = "int64_list", "float_list", "bytes_list"


def _ints(*values: int) -> dict[str, Any]:
    return feature(INTS, list(values))


def rows() -> list[dict[str, Any]]:
    """Return SequenceExamples in JSON form: lengths from 0, ragged frames, empty frames, absent lists."""
    boxes = [feature(FLOATS, [f"3f{number}00000", "40000000"]) for number in (0, 4, 8)]
    words = [feature(RAW, [b"an".hex()]), feature(RAW, [""]), feature(RAW, ["00ff"])]
    return [
        {
            "context": {"label": _ints(1), "name": feature(RAW, [b"one".hex()])},
            "feature_lists": {
                "tokens": [_ints(5), _ints(6), _ints(7)],
                "boxes": boxes,
                "words": words,
                "ragged": [_ints(1), _ints(), _ints(2, 3)],
                "sparse": [_ints(1), feature(None, []), _ints(4, 5)],
            },
        },
        {
            "context": {"label": _ints(0)},
            "feature_lists": {
                "tokens": [_ints(-8)],
                "boxes": boxes[:1],
                "words": [],
                "ragged": [_ints(4, 5, 6)],
                "sparse": [],
            },
        },
        {
            "context": {"label": _ints(-1), "name": feature(None, [])},
            "feature_lists": {
                "tokens": [],
                "boxes": [],
                "words": words[:2],
                "ragged": [],
                "sparse": [feature(None, [])],
            },
        },
        {
            "context": {"label": _ints(2**40)},
            "feature_lists": {
                "tokens": [_ints(number) for number in range(5)],
                "boxes": boxes[:2],
                "ragged": [_ints()],
            },
        },
        {"context": {"label": _ints(3)}, "feature_lists": {}},
    ]


def specs() -> dict[str, tuple[str, dict[str, Any], list[int]]]:
    """Return by case: which part the key is in, the column's settings, and the rows asked for."""
    every, with_lists = [0, 1, 2, 3, 4], [0, 1, 2, 3]
    padded = {"form": "padded"}
    name = {"key": "name", "form": "fixed", "dtype": "string", "shape": []}
    return {
        "label": ("context", {"key": "label", "form": "fixed", "dtype": "int64", "shape": []}, every),
        "name, with a default": ("context", {**name, "default": "none"}, [0, 1, 3, 4]),
        "name, without a kind": ("context", {**name, "default": "none"}, every),
        "name, sparse": ("context", {"key": "name", "form": "sparse", "dtype": "string"}, every),
        "tokens": ("lists", {"key": "tokens", **padded, "dtype": "int64", "shape": []}, every),
        "tokens, one row": ("lists", {"key": "tokens", **padded, "dtype": "int64", "shape": []}, [1]),
        "tokens as vectors": ("lists", {"key": "tokens", **padded, "dtype": "int64", "shape": [1]}, with_lists),
        "boxes": ("lists", {"key": "boxes", **padded, "dtype": "float32", "shape": [2]}, every),
        "words": ("lists", {"key": "words", **padded, "dtype": "string", "shape": []}, every),
        "frames of unequal size": ("lists", {"key": "ragged", **padded, "dtype": "int64", "shape": []}, every),
        "frames of the wrong kind": ("lists", {"key": "tokens", **padded, "dtype": "float32", "shape": []}, every),
        "ragged frames": ("lists", {"key": "ragged", "form": "ragged", "dtype": "int64"}, every),
        "ragged frames, some without a kind": ("lists", {"key": "sparse", "form": "ragged", "dtype": "int64"}, every),
        "sparse frames": ("lists", {"key": "sparse", "form": "sparse", "dtype": "int64"}, every),
    }


def _parse(payloads: list[bytes], part: str, spec: dict[str, Any]) -> dict[str, Any]:
    asked = {spec["key"]: feature_spec(spec)}
    names = {"context": "context_features", "lists": "sequence_features"}
    try:
        context, lists, lengths = tf.io.parse_sequence_example(payloads, **{names[part]: asked})
    except tf.errors.OpError as error:
        return {"error": error_json(error)}
    found = {"context": context, "lists": lists}[part][spec["key"]]
    out = tensor_json(found, spec["dtype"])
    if spec["key"] in lengths:
        out["lengths"] = lengths[spec["key"]].numpy().tolist()
    return out


def record(out: Path) -> None:
    """Write OUT/sequence: sequence.tfrecord, its records in expected.json, padded columns in columns.json."""
    folder = out / "sequence"
    folder.mkdir(parents=True, exist_ok=True)
    messages = [sequence_message(row) for row in rows()]
    payloads = [message.SerializeToString(deterministic=True) for message in messages]
    write(folder / "sequence.tfrecord", list(payloads))
    row = {"path": "sequence.tfrecord", "compression": "", "records": [raw.hex() for raw in payloads]}
    values = [sequence_json(tf.train.SequenceExample.FromString(raw)) for raw in payloads]
    write_json(folder / "expected.json", {"files": [{**row, "sequence_examples": values}]})
    cases = []
    for name, (part, spec, chosen) in specs().items():
        found = _parse([payloads[position] for position in chosen], part, spec)
        cases.append({"name": name, "part": part, **spec, "rows": chosen, "found": found})
    write_json(folder / "columns.json", {"path": "sequence.tfrecord", "columns": cases})
