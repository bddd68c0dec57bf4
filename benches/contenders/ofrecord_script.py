"""A packing script as OneFlow users write it: one process, OpenCV, protobuf, and a part file opened for each image."""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator
from functools import cache
from typing import Any

from benches import wire
from benches.jobs import Job

ENVIRONMENT = "ofrecord_script"
REQUIREMENTS = ("protobuf==7.36.2", "opencv-python-headless==5.0.0.93", "numpy==2.4.6")
VARIANTS = {"P1a": ("",), "P1b": ("",), "of-pack": ("",)}
_NUM_PARTS = 5
# File suffix of the re-encoded images, by task.
_SUFFIXES = {"P1b": ".jpg", "of-pack": ".png"}


@cache
def _message() -> Any:
    """Return the class of OFRecord messages, with the two value lists that the script uses."""
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

    field = descriptor_pb2.FieldDescriptorProto
    file = descriptor_pb2.FileDescriptorProto(name="benches_ofrecord.proto", package="benches", syntax="proto2")

    def add(owner: Any, name: str, number: int, kind: int, **more: Any) -> Any:
        return owner.field.add(name=name, number=number, type=kind, **({"label": field.LABEL_OPTIONAL} | more))

    repeated = {"label": field.LABEL_REPEATED}
    add(file.message_type.add(name="BytesList"), "value", 1, field.TYPE_BYTES, **repeated)
    packed = descriptor_pb2.FieldOptions(packed=True)
    add(file.message_type.add(name="Int32List"), "value", 1, field.TYPE_INT32, options=packed, **repeated)
    feature = file.message_type.add(name="Feature")
    feature.oneof_decl.add(name="kind")
    for name, number, kind in (("bytes_list", 1, "BytesList"), ("int32_list", 4, "Int32List")):
        add(feature, name, number, field.TYPE_MESSAGE, type_name=f".benches.{kind}", oneof_index=0)
    record = file.message_type.add(name="OFRecord")
    entry = record.nested_type.add(name="FeatureEntry")
    entry.options.map_entry = True
    add(entry, "key", 1, field.TYPE_STRING)
    add(entry, "value", 2, field.TYPE_MESSAGE, type_name=".benches.Feature")
    add(record, "feature", 1, field.TYPE_MESSAGE, type_name=".benches.OFRecord.FeatureEntry", **repeated)
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("benches.OFRecord"))


def prepare(_: Job) -> None:
    """Do nothing, because the contender reads the image files."""


def load(_: Job) -> None:
    """Import the modules for packing before the time is measured."""
    import cv2

    assert cv2.imread
    assert _message()


def run(job: Job) -> Iterator[tuple[int, Any]]:
    """Run the task once; yield item counts and results."""
    import cv2

    rows, new_record = job.rows(), _message()
    for number, (path, label) in enumerate(rows):
        if job.task_name in _SUFFIXES:
            image = cv2.imencode(_SUFFIXES[job.task_name], cv2.imread(path))[1].tobytes()
        else:
            with open(path, "rb") as source:
                image = source.read()
        record = new_record()
        record.feature["images"].bytes_list.value.append(image)
        record.feature["labels"].int32_list.value.append(label)
        payload = record.SerializeToString()
        part = number * _NUM_PARTS // len(rows)
        with open(os.path.join(job.out, f"part-{part}"), "ab") as file:
            file.write(struct.pack("<q", len(payload)))
            file.write(payload)
    yield len(rows), None


def images(job: Job) -> Iterator[tuple[bytes, int]]:
    """Yield images and labels from the packed files; digits are decoded to pixels."""
    packed = (
        wire.ofrecord_image(payload)
        for name in sorted(os.listdir(job.out))
        for payload in wire.ofrecord_payloads(os.path.join(job.out, name))
    )
    return _digits(packed) if job.task_name == "of-pack" else packed


def _digits(packed: Iterator[tuple[bytes, int]]) -> Iterator[tuple[bytes, int]]:
    import cv2
    import numpy as np

    for data, label in packed:
        yield cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_GRAYSCALE).tobytes(), label
