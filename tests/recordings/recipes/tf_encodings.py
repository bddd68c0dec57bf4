"""Unusual encodings of Example and SequenceExample: what protobuf and what tf.io.parse_example make of each."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import tensorflow as tf
from google.protobuf.message import DecodeError

from recipes import tf_odd_sequences
from recipes.tf_errors import error_json
from recipes.tf_odd_examples import odd_examples
from recipes.values import features_json, sequence_json, spell, write_json

DTYPES = {"bytes_list": tf.string, "float_list": tf.float32, "int64_list": tf.int64}


def protobuf_reads(message_type: Any, raw: bytes) -> dict[str, Any]:
    """Return {"features": ...} (or the parts of a SequenceExample), or {"error": ...}."""
    try:
        message = message_type.FromString(raw)
    except DecodeError as error:
        return {"error": error_json(error)}
    if message_type is tf.train.Example:
        return {"features": features_json(message.features.feature)}
    return sequence_json(message)


def parse_example_reads(raw: bytes, spec: dict[str, str]) -> dict[str, Any]:
    """Return the values that tf.io.parse_example finds for {key: kind}, or {"error": ...}."""
    features = {key: tf.io.VarLenFeature(DTYPES[kind]) for key, kind in spec.items()}
    try:
        found = tf.io.parse_example([raw], features)
    except (tf.errors.OpError, UnicodeDecodeError) as error:
        return {"error": error_json(error)}
    return {"values": {key: spell(kind, found[key].values.numpy()) for key, kind in spec.items()}}


def _examples() -> list[dict[str, Any]]:
    rows = []
    for name, raw, spec in odd_examples():
        row = {"name": name, "serialized": raw.hex(), "spec": spec}
        row["protobuf"] = protobuf_reads(tf.train.Example, raw)
        row["parse_example"] = parse_example_reads(raw, spec)
        rows.append(row)
    return rows


def _sequences() -> list[dict[str, Any]]:
    cases = tf_odd_sequences.odd_sequences().items()
    return [
        {"name": name, "serialized": raw.hex(), "protobuf": protobuf_reads(tf.train.SequenceExample, raw)}
        for name, raw in cases
    ]


def record(out: Path) -> None:
    """Write OUT/encodings.json."""
    write_json(out / "encodings.json", {"examples": _examples(), "sequence_examples": _sequences()})
