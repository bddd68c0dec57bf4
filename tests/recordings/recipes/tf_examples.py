"""Examples and SequenceExamples written by protobuf, with the values put in: plain files, and canonical bytes."""

from __future__ import annotations

import random
import struct
from pathlib import Path
from typing import Any

import tensorflow as tf

from recipes.edges import FLOAT_EDGES, INT_EDGES, KEYS, feature
from recipes.tf_framing import write
from recipes.values import features_json, sequence_json, unspell, write_json


def named_examples() -> dict[str, dict[str, Any]]:
    """Return features by the name of what they show."""
    ints, floats, raw = "int64_list", "float_list", "bytes_list"
    three = {"b": feature(raw, ["00ff"]), "f": feature(floats, ["3f000000"]), "i": feature(ints, [7])}
    return {
        "three kinds": three,
        "no features": {},
        "empty lists": {"b": feature(raw, []), "f": feature(floats, []), "i": feature(ints, [])},
        "without a kind": {"nothing": feature(None, []), "i": feature(ints, [1])},
        "integer edges": {"i": feature(ints, INT_EDGES)},
        "each integer alone": {f"i{number}": feature(ints, [value]) for number, value in enumerate(INT_EDGES)},
        "float edges": {"f": feature(floats, FLOAT_EDGES)},
        "empty byte strings": {"b": feature(raw, ["", "00", ""])},
        "all keys": {key: feature(ints, [number]) for number, key in enumerate(KEYS)},
        "many integers": {"i": feature(ints, [number * number - 5000 for number in range(300)])},
        "many floats": {"f": feature(floats, [struct.pack(">f", number / 7).hex() for number in range(300)])},
        "many byte strings": {"b": feature(raw, [bytes([number]).hex() * (number % 5) for number in range(200)])},
        "many features": {f"feature_{number:03}": feature(ints, [number]) for number in range(150)},
        "text": {"t": feature(raw, ["naïve 文字".encode().hex(), b"a\0b".hex()])},
    }


def random_feature(source: random.Random) -> dict[str, Any]:
    """Return a feature of a random kind, length and content."""
    kind = source.choice(["bytes_list", "float_list", "int64_list", "int64_list", None])
    size = source.choice([0, 1, 1, 1, 2, 3, 10, 40])
    if kind == "bytes_list":
        return feature(kind, [source.randbytes(source.choice([0, 1, 5, 30])).hex() for _ in range(min(size, 8))])
    if kind == "float_list":
        edges = [source.choice(FLOAT_EDGES) for _ in range(size)]
        return feature(
            kind, [edge if source.random() < 0.5 else f"{source.randrange(0x7F000000):08x}" for edge in edges]
        )
    if kind == "int64_list":
        bits = [source.randrange(1, 64) for _ in range(size)]
        return feature(kind, [source.choice([1, -1]) * source.getrandbits(count) for count in bits])
    return feature(None, [])


def random_features(source: random.Random) -> dict[str, Any]:
    """Return zero to nine features under keys in random order."""
    keys = source.sample(KEYS, source.randrange(0, 10))
    return {key: random_feature(source) for key in keys}


def random_sequence(source: random.Random) -> dict[str, Any]:
    """Return a SequenceExample in JSON form: frames of any kind, empty lists, frames without a kind."""
    lists = {}
    for key in source.sample(KEYS, source.randrange(0, 5)):
        lists[key] = [random_feature(source) for _ in range(source.choice([0, 1, 2, 6]))]
    return {"context": random_features(source), "feature_lists": lists}


def feature_message(form: dict[str, Any]) -> Any:
    """Return the Feature message of a JSON form."""
    message = tf.train.Feature()
    if form["kind"]:
        target = getattr(message, form["kind"])
        target.SetInParent()
        target.value.extend(unspell(form))
    return message


def example_message(forms: dict[str, Any]) -> Any:
    """Return the Example message of a map of JSON forms."""
    messages = {key: feature_message(form) for key, form in forms.items()}
    return tf.train.Example(features=tf.train.Features(feature=messages)) if forms else tf.train.Example()


def sequence_message(form: dict[str, Any]) -> Any:
    """Return the SequenceExample message of a JSON form."""
    message = tf.train.SequenceExample()
    for key, value in form["context"].items():
        message.context.feature[key].CopyFrom(feature_message(value))
    for key, frames in form["feature_lists"].items():
        message.feature_lists.feature_list[key].SetInParent()
        message.feature_lists.feature_list[key].feature.extend(feature_message(frame) for frame in frames)
    return message


def canonical(message: Any) -> str:
    """Return protobuf's deterministic serialization in hexadecimal."""
    return message.SerializeToString(deterministic=True).hex()


def _record_file(folder: Path) -> None:
    named = named_examples()
    payloads = [example_message(forms).SerializeToString(deterministic=True) for forms in named.values()]
    write(folder / "examples.tfrecord", list(payloads))
    values = [features_json(tf.train.Example.FromString(raw).features.feature) for raw in payloads]
    row = {"path": "examples.tfrecord", "compression": "", "records": [raw.hex() for raw in payloads]}
    write_json(folder / "expected.json", {"files": [{**row, "examples": values}], "names": list(named)})


def _record_canonical(folder: Path) -> None:
    source = random.Random(2)
    forms = list(named_examples().values()) + [random_features(source) for _ in range(200)]
    sequences = [random_sequence(source) for _ in range(50)]
    rows = []
    for form in forms:
        message = example_message(form)
        rows.append(
            {"features": form, "serialized": canonical(message), "read": features_json(message.features.feature)}
        )
    lists = []
    for form in sequences:
        message = sequence_message(form)
        lists.append({**form, "serialized": canonical(message), "read": sequence_json(message)})
    for row in rows:  # what is read is what was put in, NaN payloads included
        if row.pop("read") != row["features"]:
            raise RuntimeError(f"protobuf changed a value of {row}")
    for row in lists:
        if row.pop("read") != {part: row[part] for part in ("context", "feature_lists")}:
            raise RuntimeError(f"protobuf changed a value of {row}")
    write_json(folder / "canonical.json", {"examples": rows, "sequence_examples": lists})


def record(out: Path) -> None:
    """Write OUT/examples: examples.tfrecord with expected.json, and canonical.json."""
    folder = out / "examples"
    folder.mkdir(parents=True, exist_ok=True)
    _record_file(folder)
    _record_canonical(folder)
