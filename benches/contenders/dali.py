"""DALI on the CPU with two threads: its TFRecord reader, decoders and resize."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

from benches import wire
from benches.jobs import Job
from benches.steps import MEAN, SHORTER, SIDE, STD

ENVIRONMENT = "dali"
REQUIREMENTS = ("nvidia-dali-cuda120==2.4.0", "numpy==2.4.6")
_DCT = ("", "fast DCT")
VARIANTS = {
    "P4a": _DCT,
    "P4b": _DCT,
    "P4c": _DCT,
    "P4-large": ("",),
    "P4-progressive": ("",),
    "P5": ("",),
    "P6a": ("",),
}


def prepare(job: Job) -> None:
    """Write the index files that DALI's reader needs: offset and length of each frame."""
    for shard, index in zip(job.shards, _indexes(job), strict=True):
        if os.path.exists(index):
            continue
        offset, lines = 0, []
        for payload in wire.tfrecord_payloads(shard):
            lines.append(f"{offset} {len(payload) + 16}\n")
            offset += len(payload) + 16
        with open(index, "w", encoding="ascii") as file:
            file.writelines(lines)


def _indexes(job: Job) -> list[str]:
    return [job.packed(f"-{number}.frames") for number in range(len(job.shards))]


def run(job: Job) -> Iterator[tuple[int, Any]]:
    """Yield batches without end; one epoch in file order in the check pass, because the shuffle buffer mixes epochs."""
    pipeline = _pipeline(job)
    pipeline.build()
    num_left = job.size if job.is_check_pass else -1
    while num_left:
        images, labels = pipeline.run()
        count = job.num_records if num_left < 0 else min(job.num_records, num_left)
        yield count, (images, labels, count)
        num_left -= count if num_left > 0 else 0


def _pipeline(job: Job) -> Any:
    from nvidia.dali import fn, pipeline_def, tfrecord

    features = {
        "image": tfrecord.FixedLenFeature((), tfrecord.string, ""),
        "label": tfrecord.FixedLenFeature([1], tfrecord.int64, -1),
    }

    @pipeline_def(batch_size=job.num_records, num_threads=2, device_id=None, prefetch_queue_depth=2, seed=1)
    def pipeline() -> Any:
        sample = fn.readers.tfrecord(
            path=job.shards,
            index_path=_indexes(job),
            features=features,
            random_shuffle=not job.is_check_pass,
            initial_fill=1024,
            prefetch_queue_depth=4,
            read_ahead=False,
        )
        return _decoded(job, sample["image"]), sample["label"]

    return pipeline()


def _decoded(job: Job, data: Any) -> Any:
    from nvidia.dali import fn, types

    if job.task.recipe == "digit":
        gray = fn.decoders.image(data, device="cpu", output_type=types.GRAY)
        return fn.cast(gray, dtype=types.FLOAT) * (1 / 255)
    options = {"device": "cpu", "output_type": types.RGB, "use_fast_idct": job.variant == "fast DCT"}
    linear = {"interp_type": types.INTERP_LINEAR, "antialias": False}
    if job.task.recipe == "center":
        image, mirror = fn.resize(fn.decoders.image(data, **options), resize_shorter=SHORTER, **linear), 0
    else:
        ratio = [3 / 4, 4 / 3]
        window = {"random_area": [0.08, 1.0], "random_aspect_ratio": ratio, "num_attempts": 10}
        image = fn.resize(fn.decoders.image_random_crop(data, **options, **window), size=(SIDE, SIDE), **linear)
        mirror = fn.random.coin_flip(probability=0.5)
    values = {"dtype": types.FLOAT, "mean": list(MEAN), "std": list(STD)}
    if job.task.recipe == "crop-uint8":
        values = {"dtype": types.UINT8, "mean": 0.0, "std": 1.0}
    return fn.crop_mirror_normalize(image, crop=(SIDE, SIDE), mirror=mirror, output_layout="HWC", **values)


def arrays(_: Job, delivered: Any) -> tuple[Any, Any]:
    """Return images and labels of a batch."""
    images, labels, count = delivered
    return images.as_array()[:count], labels.as_array()[:count]
