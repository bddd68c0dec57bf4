"""Programs for TensorFlow that prepare images as public training scripts do, with conditions and random numbers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from benches.jobs import Job
from benches.steps import MEAN, SIDE, STD


def image_features(tf: Any) -> dict[str, Any]:
    """Return the feature specs of an image and its label.

    Parameters
    ----------
    tf : module

    Returns
    -------
    dict
    """
    return {"image": tf.io.FixedLenFeature([], tf.string), "label": tf.io.FixedLenFeature([], tf.int64)}


def augmented(tf: Any, job: Job) -> Iterator[tuple[int, Any]]:
    """Crop a random window, resize it to 224 x 224, flip it at random, normalize, batch and prefetch.

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
        begin, size, _ = tf.image.sample_distorted_bounding_box(
            tf.io.extract_jpeg_shape(found["image"]),
            tf.zeros([1, 0, 4]),
            min_object_covered=0.0,
            aspect_ratio_range=(3 / 4, 4 / 3),
            area_range=(0.08, 1.0),
            max_attempts=10,
            use_image_if_no_bounding_boxes=True,
        )
        y, x, _ = tf.unstack(begin)
        height, width, _ = tf.unstack(size)
        image = tf.image.decode_and_crop_jpeg(found["image"], tf.stack([y, x, height, width]), channels=3)
        image = tf.image.resize(image, [SIDE, SIDE])
        if tf.random.uniform(()) > 0.5:
            image = tf.image.flip_left_right(image)
        return (image - tf.constant(MEAN)) / tf.constant(STD), found["label"]

    yield from _batches(tf, job, parse)


def evaluated(tf: Any, job: Job) -> Iterator[tuple[int, Any]]:
    """Convert photographs to floats, crop the center, resize it to 224 x 224, normalize, batch and prefetch.

    Parameters
    ----------
    tf : module
    job : Job

    Yields
    ------
    int
    tuple
        Images and labels.
    """
    features = image_features(tf)

    def parse(payload: Any) -> Any:
        found = tf.io.parse_single_example(payload, features)
        image = tf.image.convert_image_dtype(tf.io.decode_jpeg(found["image"], channels=3), tf.float32)
        image = tf.image.resize(tf.image.central_crop(image, 0.875), [SIDE, SIDE])
        return tf.clip_by_value((image - 0.5) * 2.0, -1.0, 1.0), found["label"]

    yield from _batches(tf, job, parse)


def digits(tf: Any, job: Job) -> Iterator[tuple[int, Any]]:
    """Decode PNG digits, scale them, batch and prefetch.

    Parameters
    ----------
    tf : module
    job : Job

    Yields
    ------
    int
    tuple
        Images and labels.
    """
    features = image_features(tf)

    def parse(payload: Any) -> Any:
        found = tf.io.parse_single_example(payload, features)
        return tf.cast(tf.io.decode_png(found["image"], channels=1), tf.float32) / 255.0, found["label"]

    yield from _batches(tf, job, parse)


def _batches(tf: Any, job: Job, parse: Any) -> Iterator[tuple[int, Any]]:
    records = tf.data.TFRecordDataset(job.shards)
    if not job.is_check_pass:
        records = records.repeat()
    samples = records.map(parse, num_parallel_calls=tf.data.AUTOTUNE)
    for image, label in samples.batch(job.num_records).prefetch(tf.data.AUTOTUNE):
        yield int(label.shape[0]), (image, label)
