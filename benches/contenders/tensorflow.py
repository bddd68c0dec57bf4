"""TensorFlow on two cores: tf.data with two threads and any order, TFRecordWriter in one or two processes."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from typing import Any

from benches import wire
from benches.jobs import Job

ENVIRONMENT = "tensorflow"
REQUIREMENTS = ("tensorflow-cpu==2.21.0", "numpy==2.4.6")
SETTINGS = {"TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": ""}
_BUFFER_BYTES = 4 << 20
# interleave: batches are built and parsed per file, in parallel. batch: they are built after a parallel reader.
_READ = ("interleave", "batch")
VARIANTS = {
    "P1a": ("2 processes",),
    "P1b": ("",),
    "P2a": _READ,
    "P2b": _READ,
    "P2c": _READ,
    "P3a": _READ,
    "P3b": _READ,
}


def prepare(_: Job) -> None:
    """Do nothing, because the contender reads the datasets as they are."""


def load(_: Job) -> None:
    """Import the modules for packing before the time is measured."""
    import tensorflow as tf

    assert tf.io.TFRecordWriter
    assert tf.train.Example


def run(job: Job) -> Iterator[tuple[int, Any]]:
    """Run the task once, or for tasks that repeat passes, without end and without creating the pipeline again."""
    if job.task_name == "P1a":
        yield from _pack(job)
    elif job.task_name == "P1b":
        yield from _recode(job)
    else:
        pipeline = _batches(job) if job.task_name.startswith("P2") else _parsed(job)
        if not job.is_check_pass:
            pipeline = pipeline.repeat()
        for batch in pipeline.prefetch(4).with_options(_options()):
            first = batch if job.task_name.startswith("P2") else next(iter(batch.values()))
            yield int(first.shape[0]), batch


def _pack(job: Job) -> Iterator[tuple[int, None]]:
    """Pack in two processes, one file each. They are forked, which is safe before any TensorFlow operation has run."""
    rows = job.rows()
    parts = [(os.path.join(job.out, f"{part}.tfrecord"), rows[part::2]) for part in range(2)]
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("fork")) as pool:
        for count in pool.map(_pack_part, parts):
            yield count, None


def _pack_part(part: tuple[str, list[tuple[str, int]]]) -> int:
    import tensorflow as tf

    with tf.io.TFRecordWriter(part[0]) as writer:
        for path, label in part[1]:
            with open(path, "rb") as file:
                writer.write(_example(file.read(), label))
    return len(part[1])


def _example(image: bytes, label: int) -> bytes:
    import tensorflow as tf

    train = tf.train
    feature = {
        "image": train.Feature(bytes_list=train.BytesList(value=[image])),
        "label": train.Feature(int64_list=train.Int64List(value=[label])),
    }
    return train.Example(features=train.Features(feature=feature)).SerializeToString()


def _recode(job: Job) -> Iterator[tuple[int, None]]:
    import tensorflow as tf

    def recode(path: Any, label: Any) -> tuple[Any, Any]:
        pixels = tf.io.decode_jpeg(tf.io.read_file(path), channels=3)
        return tf.io.encode_jpeg(pixels, quality=95), label

    paths, labels = zip(*job.rows(), strict=True)
    pipeline = tf.data.Dataset.from_tensor_slices((list(paths), list(labels))).map(recode, tf.data.AUTOTUNE)
    with tf.io.TFRecordWriter(os.path.join(job.out, "0.tfrecord")) as writer:
        for image, label in pipeline.prefetch(64).with_options(_options()).as_numpy_iterator():
            writer.write(_example(image, int(label)))
    yield len(paths), None


def _options() -> Any:
    import tensorflow as tf

    options = tf.data.Options()
    options.deterministic = False
    options.threading.private_threadpool_size = 2
    return options


def _batches(job: Job, parse: Callable[[Any], Any] | None = None) -> Any:
    import tensorflow as tf

    size, drop = job.task.num_records, not job.is_check_pass and parse is not None
    if job.variant == "batch":
        records = tf.data.TFRecordDataset(job.shards, num_parallel_reads=2, buffer_size=_BUFFER_BYTES)
        batches = records.batch(size, drop_remainder=drop)
        return batches if parse is None else batches.map(parse, tf.data.AUTOTUNE)

    def read(path: Any) -> Any:
        batches = tf.data.TFRecordDataset(path, buffer_size=_BUFFER_BYTES).batch(size, drop_remainder=drop)
        return batches if parse is None else batches.map(parse, 1)

    files = tf.data.Dataset.from_tensor_slices(job.shards)
    return files.interleave(read, cycle_length=4, num_parallel_calls=4, deterministic=False)


def _parsed(job: Job) -> Any:
    import tensorflow as tf

    if job.task_name == "P3a":
        kinds = {"I": (13, tf.float32), "C": (26, tf.int64)}
        wanted = {
            f"{letter}{place + 1}": tf.io.FixedLenFeature([], kind)
            for letter, (count, kind) in kinds.items()
            for place in range(count)
        }
        return _batches(job, lambda payloads: tf.io.parse_example(payloads, wanted))
    context = {"label": tf.io.FixedLenFeature([], tf.int64)}
    lists = {"tokens": tf.io.FixedLenSequenceFeature([], tf.int64)}

    def parse(payloads: Any) -> dict[str, Any]:
        first, second, _ = tf.io.parse_sequence_example(payloads, context, lists)
        return {**first, **second}

    return _batches(job, parse)


def payloads(_: Job, delivered: Any) -> Iterable[bytes]:
    """Return the records of a batch."""
    return delivered.numpy().tolist()


def columns(_: Job, delivered: Any) -> dict[str, Any]:
    """Return the columns of a batch."""
    return {name: column.numpy() for name, column in delivered.items()}


def images(job: Job) -> Iterator[tuple[bytes, int]]:
    """Yield images and labels from the packed files."""
    for name in sorted(os.listdir(job.out)):
        yield from map(wire.example_image, wire.tfrecord_payloads(os.path.join(job.out, name)))
