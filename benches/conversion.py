"""Measure `convert` and `export` beside `pack`, TensorFlow and copies of files, in turns; check that results are equal.

Usage: python -m benches.conversion [FOLDER] [NUM_PHOTOS] [NUM_RECORDS]
"""

from __future__ import annotations

import os
import resource
import shutil
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

from benches import environments
from benches.contenders import tensorflow

_ROUNDS = 5
# Size of a photo of ImageNet, on average.
_PHOTO_BYTES = 110_000
_PEER_REQUIREMENTS = (*tensorflow.REQUIREMENTS, "protobuf")


def _write_photos(folder: Path, count: int) -> None:
    head = b"\xff\xd8\xff\xe0"
    for number in range(count):
        path = folder / f"class-{number % 20:02}" / f"{number:06}.jpg"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(head + os.urandom(_PHOTO_BYTES + number % 1000))


def _measure_in_turns(works: dict[str, Callable[[], object]], outputs: dict[str, Path]) -> dict[str, float]:
    """Run each work several times, without its earlier output; return the median of the seconds."""
    times: dict[str, list[float]] = {name: [] for name in works}
    for _ in range(_ROUNDS):
        for name, work in works.items():
            shutil.rmtree(outputs[name], ignore_errors=True)
            start = time.perf_counter()
            work()
            times[name].append(time.perf_counter() - start)
    return {name: median(values) for name, values in times.items()}


def _print_result(title: str, count: int, seconds: dict[str, float], ours: str, other: str) -> None:
    rates = ", ".join(f"{name} {count / duration:,.0f}/s" for name, duration in seconds.items())
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    print(f"{title}: {rates}; {ours} is {seconds[other] / seconds[ours]:.2f} x {other}; peak {peak} MiB", flush=True)


def measure_photos(root: Path, count: int) -> None:
    """Compare `convert` to another number of shards with `pack`, and `export` to a folder with copying the files."""
    import recordmill as rm

    _write_photos(root / "photos", count)
    rm.pack(root / "photos", root / "source/train", shards=8, keep_name=True)
    outputs = {name: root / name for name in ("pack", "convert", "copy", "export")}
    works: dict[str, Callable[[], object]] = {
        "pack": lambda: rm.pack(root / "photos", root / "pack/train", shards=5, keep_name=True),
        "convert": lambda: rm.convert(root / "source", root / "convert/train", shards=5),
        "copy": lambda: shutil.copytree(root / "photos", root / "copy"),
        "export": lambda: rm.export(root / "source", root / "export", to="folder"),
    }
    seconds = _measure_in_turns(works, outputs)
    for mine, theirs in zip(rm.iterate_payloads(root / "convert"), rm.iterate_payloads(root / "pack"), strict=True):
        assert mine == theirs
    copied = [path.relative_to(root / "copy") for path in (root / "copy").rglob("*.jpg")]
    assert len(copied) == count
    assert all((root / "copy" / path).read_bytes() == (root / "export" / path).read_bytes() for path in copied)
    _print_result("photos to 5 shards", count, {name: seconds[name] for name in ("pack", "convert")}, "convert", "pack")
    _print_result("photos to files", count, {name: seconds[name] for name in ("copy", "export")}, "export", "copy")


def measure_examples(root: Path, count: int) -> None:
    """Compare `convert` of small Examples to OFRecord with TensorFlow and a script that serializes with protobuf."""
    import recordmill as rm

    with rm.ShardWriter(root / "small.tfrecord") as writer:
        for number in range(count):
            writer.write({"id": number, "label": number % 10, "score": number / 7, "name": f"sample-{number}"})
    python = environments.interpreter("tensorflow", _PEER_REQUIREMENTS)
    peer = [python, "-m", "benches.conversion", "--peer", str(root / "small.tfrecord"), str(root / "peer")]
    seconds = {"TensorFlow": float(subprocess.run(peer, check=True, capture_output=True, text=True).stdout)}
    outputs = {"recordmill": root / "ours"}
    works = {"recordmill": lambda: rm.convert(root / "small.tfrecord", root / "ours/train", format="ofrecord")}
    seconds |= _measure_in_turns(works, outputs)
    ours, theirs = (rm.open(root / name).batch(1024) for name in ("ours", "peer"))
    for mine, other in zip(ours, theirs, strict=True):
        assert all((mine[name] == other[name]).all() for name in ("id", "label", "score"))
        assert list(mine["name"]) == list(other["name"])
    _print_result("small Examples to OFRecord", count, seconds, "recordmill", "TensorFlow")


def convert_with_tensorflow(source: str, folder: str) -> float:
    """Read Examples with TensorFlow and write OFRecord with protobuf, as tutorials do; return the seconds."""
    import tensorflow as tf

    new_record = _build_message()
    os.makedirs(folder)
    start = time.perf_counter()
    with open(os.path.join(folder, "part-0"), "wb") as file:
        for payload in tf.data.TFRecordDataset(source):
            record = new_record()
            for name, feature in tf.train.Example.FromString(payload.numpy()).features.feature.items():
                kind = feature.WhichOneof("kind")
                getattr(record.feature[name], kind).value.extend(getattr(feature, kind).value)
            data = record.SerializeToString()
            file.write(struct.pack("<q", len(data)))
            file.write(data)
    return time.perf_counter() - start


def _build_message() -> Any:
    """Return the class of OFRecord messages, with the value lists of an Example."""
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

    field = descriptor_pb2.FieldDescriptorProto
    file = descriptor_pb2.FileDescriptorProto(name="conversion.proto", package="conversion", syntax="proto2")
    feature = descriptor_pb2.DescriptorProto(name="Feature")
    feature.oneof_decl.add(name="kind")
    lists = (("bytes", 1, field.TYPE_BYTES), ("float", 2, field.TYPE_FLOAT), ("int64", 5, field.TYPE_INT64))
    for name, number, kind in lists:
        title = f"{name.capitalize()}List"
        values = file.message_type.add(name=title).field.add(name="value", number=1, type=kind)
        values.label = field.LABEL_REPEATED
        values.options.packed = name != "bytes"
        member = feature.field.add(name=f"{name}_list", number=number, type=field.TYPE_MESSAGE, oneof_index=0)
        member.label, member.type_name = field.LABEL_OPTIONAL, f".conversion.{title}"
    file.message_type.append(feature)
    record = file.message_type.add(name="OFRecord")
    entry = record.nested_type.add(name="FeatureEntry")
    entry.options.map_entry = True
    entry.field.add(name="key", number=1, type=field.TYPE_STRING, label=field.LABEL_OPTIONAL)
    value = entry.field.add(name="value", number=2, type=field.TYPE_MESSAGE, label=field.LABEL_OPTIONAL)
    value.type_name = ".conversion.Feature"
    features = record.field.add(name="feature", number=1, type=field.TYPE_MESSAGE, label=field.LABEL_REPEATED)
    features.type_name = ".conversion.OFRecord.FeatureEntry"
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("conversion.OFRecord"))


def main(arguments: list[str]) -> None:
    """Print the rates and ratios."""
    if arguments[:1] == ["--peer"]:
        print(convert_with_tensorflow(*arguments[1:]))
        return
    folder, num_photos, num_records = (*arguments, *("", "", "")[len(arguments) :])
    with tempfile.TemporaryDirectory(dir=folder or None) as name:
        measure_photos(Path(name), int(num_photos or 5000))
        measure_examples(Path(name), int(num_records or 1_000_000))


if __name__ == "__main__":
    main(sys.argv[1:])
