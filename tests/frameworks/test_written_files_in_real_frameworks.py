"""Files written here are read by the real TensorFlow, MXNet and OneFlow, in environments of their own."""

from __future__ import annotations

import json
import random
import struct
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import recordmill as rm
from tests.frameworks.runner import RECORDINGS, find_interpreter

MAGIC = bytes.fromhex("0a23d7ce")

pytestmark = [pytest.mark.deep, pytest.mark.timeout(1200)]


def judge(framework: str, folder: Path) -> None:
    """Run a framework's checker on a folder with an expected.json; fail with what it prints."""
    script = RECORDINGS / f"check_with_{framework}.py"
    told = subprocess.run(
        [find_interpreter(framework), str(script), str(folder)],
        capture_output=True,
        text=True,
        check=False,
        cwd=RECORDINGS,
    )
    assert told.returncode == 0, told.stdout[-4000:] + told.stderr[-4000:]


def feature(kind: str, values: list[Any]) -> dict[str, Any]:
    """One feature as the checkers spell it."""
    spell = {
        "bytes_list": lambda value: value.hex(),
        "float_list": lambda value: struct.pack(">f", value).hex(),
        "double_list": lambda value: struct.pack(">d", value).hex(),
    }.get(kind, int)
    return {"kind": kind, "values": [spell(value) for value in values]}


def samples(count: int) -> list[dict[str, Any]]:
    """Examples with odd values, in one shape so that a schema can be told."""
    draw = random.Random(count)
    return [
        {
            "image": draw.randbytes(draw.choice([0, 1, 100, 5000])),
            "image/name": f"prüfung {position}",
            "label": draw.choice([0, -1, 2**63 - 1, -(2**63), position]),
            "box": np.array([draw.random() for _ in range(4)], np.float32),
            "ids": np.arange(position % 5),
        }
        for position in range(count)
    ]


def as_features(example: dict[str, Any]) -> dict[str, Any]:
    """What TensorFlow and OneFlow must read of a sample."""
    return {
        "image": feature("bytes_list", [example["image"]]),
        "image/name": feature("bytes_list", [example["image/name"].encode()]),
        "label": feature("int64_list", [example["label"]]),
        "box": feature("float_list", list(example["box"])),
        "ids": feature("int64_list", list(example["ids"])),
    }


def write(folder: Path, name: str, examples: list[Any], **options: Any) -> str:
    with rm.ShardWriter(folder / name, **options) as writer:
        for example in examples:
            writer.write(example)
    return Path(writer.paths[0]).name


def test_tensorflow_reads_written_tfrecord(tmp_path: Path) -> None:
    examples, files = samples(300), []
    for compression, word in ((None, ""), ("gzip", "GZIP"), ("zlib", "ZLIB")):
        name = write(tmp_path, f"examples{word}", examples, format="tfrecord", compression=compression)
        payloads = [payload.hex() for payload in rm.ShardReader(tmp_path / name)]
        spelled = [as_features(example) for example in examples]
        files.append({"path": name, "compression": word, "records": payloads, "examples": spelled, "canonical": True})
    raw = [bytes(length) for length in (0, 1, 11, 12, 13, 70000, 0)]
    files.append(
        {"path": write(tmp_path, "raw", raw, format="tfrecord"), "compression": "", "records": [r.hex() for r in raw]}
    )
    files.append({"path": write(tmp_path, "none", [], format="tfrecord"), "compression": "", "records": []})
    (tmp_path / "expected.json").write_text(json.dumps({"files": files}))
    judge("tensorflow", tmp_path)


def test_tensorflow_reads_written_sequence_examples(tmp_path: Path) -> None:
    rows = [[[token, token + 1][: 1 + token % 2] for token in range(count)] for count in (0, 1, 7, 60)]
    examples = [{"label": count, "tokens": rm.FeatureList(row)} for count, row in enumerate(rows)]
    name = write(tmp_path, "sequences", examples, format="tfrecord", payload="sequence_example")
    spelled = [
        {
            "context": {"label": feature("int64_list", [count])},
            "feature_lists": {"tokens": [feature("int64_list", frame) for frame in row]},
        }
        for count, row in enumerate(rows)
    ]
    payloads = [payload.hex() for payload in rm.ShardReader(tmp_path / name)]
    file = {"path": name, "compression": "", "records": payloads, "sequence_examples": spelled, "canonical": True}
    (tmp_path / "expected.json").write_text(json.dumps({"files": [file]}))
    judge("tensorflow", tmp_path)


def test_mxnet_reads_written_recordio(tmp_path: Path) -> None:
    draw = random.Random(5)
    raw = [draw.randbytes(place) + MAGIC * (place % 3) + draw.randbytes(place % 7) for place in range(40)]
    name = write(tmp_path, "magic", raw, format="recordio")
    keys = list(range(len(raw)))
    files: list[dict[str, Any]] = [
        {
            "path": name,
            "records": [record.hex() for record in raw],
            "idx": name[:-4] + ".idx",
            "key_type": "int",
            "keys": keys,
        }
    ]
    labels: list[Any] = [3, 0.5, np.array([1.0, 2.0, 3.0], np.float32), np.array([4.0], np.float32)]
    examples = [{"image": draw.randbytes(20 + at), "label": labels[at % 4], "id": 1000 + at} for at in range(20)]
    name = write(tmp_path, "headers", examples, format="recordio")
    headers = []
    for example in examples:
        label = example["label"]
        vector = isinstance(label, np.ndarray)
        bits = [struct.pack(">f", value).hex() for value in np.asarray(label, np.float32).reshape(-1)]
        headers.append(
            {
                "flag": len(bits) if vector else 0,
                "label": bits if vector else bits[0],
                "id": example["id"],
                "id2": 0,
                "data": len(example["image"]),
            }
        )
    payloads = [payload.hex() for payload in rm.ShardReader(tmp_path / name)]
    keys = [example["id"] for example in examples]
    files.append(
        {
            "path": name,
            "records": payloads,
            "headers": headers,
            "idx": name[:-4] + ".idx",
            "key_type": "int",
            "keys": keys,
        }
    )
    (tmp_path / "expected.json").write_text(json.dumps({"files": files}))
    judge("mxnet", tmp_path)


def test_oneflow_reads_written_ofrecord(tmp_path: Path) -> None:
    draw = random.Random(9)
    images = [draw.randbytes(50 + at) for at in range(53)]
    schema = rm.Schema({"images": rm.Feature("bytes"), "labels": rm.Feature("int32"), "weight": rm.Feature("float64")})
    with rm.ShardWriter(tmp_path / "set/part", format="ofrecord", shards=5, schema=schema) as writer:
        for at, image in enumerate(images):
            writer.write({"images": image, "labels": at - 20, "weight": at / 7})
    order = [at for part in range(5) for at in range(part, 53, 5)]
    labels = [struct.pack("<i", at - 20).hex() for at in order]
    fields = {
        "images": {"decoder": "bytes", "values": [images[at].hex() for at in order]},
        "labels": {"decoder": "raw", "dtype": "int32", "shape": [1], "truncate": False, "values": labels},
    }
    records = [payload.hex() for path in writer.paths for payload in rm.ShardReader(path)]
    spelled = [
        {
            "images": feature("bytes_list", [images[at]]),
            "labels": feature("int32_list", [at - 20]),
            "weight": feature("double_list", [at / 7]),
        }
        for at in order
    ]
    told = {"directory": "set", "num_parts": 5, "fields": fields, "records": records, "examples": spelled}
    (tmp_path / "expected.json").write_text(json.dumps({"sets": [told]}))
    judge("oneflow", tmp_path)
