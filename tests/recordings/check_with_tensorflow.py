"""Tells whether TensorFlow reads exactly what is expected: python check_with_tensorflow.py FOLDER.

FOLDER/expected.json is {"files": [file, ...]}, each file being
    path                its name in FOLDER
    compression         "", "GZIP" or "ZLIB", as tf.data.TFRecordDataset takes it
    records             the payloads in hexadecimal, in order
    examples            optional, per record {key: feature}: what protobuf must read from it; tf.io.parse_example
                        must agree about every key that has a kind
    sequence_examples   optional, per record {"context": {key: feature}, "feature_lists": {key: [feature, ...]}}
    canonical           optional, true: each payload must be protobuf's deterministic serialization of itself
A feature is {"kind": "bytes_list" | "float_list" | "int64_list" | null, "values": [...]}: bytes in hexadecimal,
float32 as the eight digits of its bits, integers as they are.

Exit status 0: all equal; 1: the differences are printed. Runs in the environment of make_tensorflow.py.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")

import tensorflow as tf
from recipes.differences import check, differences
from recipes.tf_encodings import parse_example_reads, protobuf_reads
from recipes.tf_framing import read


def check_example(where: str, raw: bytes, expected: dict[str, Any]) -> list[str]:
    """Compare an Example as protobuf and as TensorFlow's own parser read it."""
    found = protobuf_reads(tf.train.Example, raw)
    lines = differences(where, {"features": expected}, found)
    spec = {key: feature["kind"] for key, feature in expected.items() if feature["kind"]}
    if spec and not lines:
        values = {key: expected[key]["values"] for key in spec}
        lines = differences(f"{where} by parse_example", {"values": values}, parse_example_reads(raw, spec))
    return lines


def check_sequence(where: str, raw: bytes, expected: dict[str, Any]) -> list[str]:
    """Compare a SequenceExample as protobuf read it."""
    return differences(where, expected, protobuf_reads(tf.train.SequenceExample, raw))


def check_canonical(where: str, raw: bytes, message_type: Any) -> list[str]:
    """Compare a payload with protobuf's deterministic serialization of what is in it."""
    again = message_type.FromString(raw).SerializeToString(deterministic=True)
    return differences(f"{where} serialized", again.hex(), raw.hex())


def check_file(folder: Path, file: dict[str, Any]) -> list[str]:
    """Compare the payloads of a file, then their messages."""
    records, error = read(folder / file["path"], file["compression"])
    name = file["path"]
    lines = [f"{name}: {error['class']}: {error['message']}"] if error else []
    lines += differences(name, file["records"], [record.hex() for record in records])
    for part, look, message_type in (
        ("examples", check_example, tf.train.Example),
        ("sequence_examples", check_sequence, tf.train.SequenceExample),
    ):
        if part in file and len(file[part]) != len(records):
            lines.append(f"{name}: {len(file[part])} {part} are expected, {len(records)} records were read")
        for position, (raw, expected) in enumerate(zip(records, file.get(part, []), strict=False)):
            lines += look(f"{name}[{position}]", raw, expected)
            lines += check_canonical(f"{name}[{position}]", raw, message_type) if file.get("canonical") else []
    return lines


if __name__ == "__main__":
    sys.exit(check(Path(sys.argv[1]), "files", check_file))
