"""Programs for TensorFlow: write photographs, read them with a simple pipeline, and parse other records."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benches.jobs import Job
from benches.programs.tensorflow_images import augmented, digits, evaluated, image_features
from benches.tasks.programs import AUTOTUNE, IN_SEQUENCE

_BUFFER = 1024


def photographs(tf: Any, job: Job) -> Iterator[tuple[int, Any]]:
    """Parse, decode, resize to 96 x 96, scale, shuffle, batch and prefetch; one epoch in the check pass.

    Parameters
    ----------
    tf : module
        TensorFlow or `recordmill.compat.tensorflow`.
    job : Job

    Yields
    ------
    int
        Number of samples of the batch.
    tuple
        Images and labels.
    """
    features = image_features(tf)

    def parse(payload: Any) -> Any:
        found = tf.io.parse_single_example(payload, features)
        image = tf.io.decode_jpeg(found["image"], channels=3)
        image = tf.image.resize(image, (96, 96))
        image = image / 255
        return image, tf.stack([tf.cast(found["label"], "int32")])

    records = tf.data.TFRecordDataset(job.shards)
    if not job.is_check_pass:
        records = records.repeat()
    parallel = {"num_parallel_calls": tf.data.AUTOTUNE} if job.variant == AUTOTUNE else {}
    samples = records.map(parse, **parallel).shuffle(buffer_size=_BUFFER)
    if job.variant == IN_SEQUENCE:
        options = tf.data.Options()
        options.experimental_optimization.map_parallelization = False
        samples = samples.with_options(options)
    for image, label in samples.batch(job.num_records).prefetch(buffer_size=-1):
        yield int(label.shape[0]), (image, label)


def parsing(tf: Any, job: Job) -> Iterator[tuple[int, Any]]:
    """Parse batches of payloads in memory to 39 columns of numbers.

    Parameters
    ----------
    tf : module
    job : Job

    Yields
    ------
    int
    dict
        Columns.
    """
    wanted = {f"I{place + 1}": tf.io.FixedLenFeature([], tf.float32) for place in range(13)}
    wanted |= {f"C{place + 1}": tf.io.FixedLenFeature([], tf.int64) for place in range(26)}
    shards = job.shards if job.is_check_pass else job.shards[:1]
    batches = iter(tf.data.TFRecordDataset(shards).batch(job.num_records))
    if not job.is_check_pass:
        batches = [next(batches) for _ in range(min(64, job.size // job.num_records // 4))]
    for payloads in batches:
        yield int(payloads.shape[0]), tf.io.parse_example(payloads, wanted)


def filtered(tf: Any, job: Job) -> Iterator[tuple[int, Any]]:
    """Parse raw pixels, convert them to floats, drop labels from 5 on, and batch.

    Parameters
    ----------
    tf : module
    job : Job

    Yields
    ------
    int
        Number of samples of the batch.
    tuple
        Images and labels.
    """
    features = image_features(tf)

    def parse(payload: Any) -> Any:
        found = tf.io.parse_single_example(payload, features)
        pixels = tf.reshape(tf.io.decode_raw(found["image"], tf.uint8), [28, 28, 1])
        return tf.cast(pixels, tf.float32) / 255, found["label"]

    samples = tf.data.TFRecordDataset(job.shards).map(parse).filter(lambda _, label: label < 5)
    for image, label in samples.batch(job.num_records):
        yield int(label.shape[0]), (image, label)


def sequences(tf: Any, job: Job) -> Iterator[tuple[int, Any]]:
    """Parse sequences of tokens and their labels, pad and batch them.

    Parameters
    ----------
    tf : module
    job : Job

    Yields
    ------
    int
    tuple
        Tokens and labels.
    """
    context = {"label": tf.io.FixedLenFeature([], tf.int64)}
    frames = {"tokens": tf.io.FixedLenSequenceFeature([], tf.int64)}

    def parse(payload: Any) -> Any:
        whole, lists = tf.io.parse_single_sequence_example(payload, context, frames)
        return lists["tokens"], whole["label"]

    samples = tf.data.TFRecordDataset(job.shards).map(parse)
    for tokens, label in samples.padded_batch(job.num_records, ([None], [])):
        yield int(label.shape[0]), (tokens, label)


def writing(tf: Any, job: Job) -> Iterator[tuple[int, Any]]:
    """Write images and labels as Examples.

    Parameters
    ----------
    tf : module
    job : Job

    Yields
    ------
    int
    None
    """
    with tf.io.TFRecordWriter(os.path.join(job.out, "photos.tfrecord")) as writer:
        for name, label in job.rows():
            feature = {
                "image": tf.train.Feature(bytes_list=tf.train.BytesList(value=[Path(name).read_bytes()])),
                "label": tf.train.Feature(int64_list=tf.train.Int64List(value=[label])),
            }
            writer.write(tf.train.Example(features=tf.train.Features(feature=feature)).SerializeToString())
    yield len(job.rows()), None


PROGRAMS = {
    "tf-photos": photographs,
    "tf-augment": augmented,
    "tf-center": evaluated,
    "tf-digits": digits,
    "tf-parse": parsing,
    "tf-filter": filtered,
    "tf-sequences": sequences,
    "tf-write": writing,
}
