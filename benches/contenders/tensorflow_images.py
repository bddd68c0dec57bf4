"""TensorFlow's image pipelines: tf.data on four shards with two threads, any order and a shuffle buffer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from benches.contenders.tensorflow import ENVIRONMENT, REQUIREMENTS, SETTINGS
from benches.jobs import Job
from benches.steps import MEAN, SHORTER, SIDE, STD

LABEL = "tensorflow"
__all__ = ["ENVIRONMENT", "REQUIREMENTS", "SETTINGS"]
# fused: decode only the rows of the crop. fast: with the fast inverse DCT and plain upsampling.
_FUSED = ("fused", "fused, fast")
_DIGITS = ("digit", "array")
VARIANTS = {
    "P4a": _FUSED,
    "P4b": _FUSED,
    "P4c": _FUSED,
    "P4-large": _FUSED,
    "P4-progressive": ("fused",),
    "P5": ("",),
    "P5-arrays": ("",),
    "P6a": ("fused",),
}


def prepare(_: Job) -> None:
    """Do nothing, because the contender reads the datasets as they are."""


def run(job: Job) -> Iterator[tuple[int, Any]]:
    """Yield batches without end from one pipeline; of a single epoch in the check pass."""
    import tensorflow as tf

    options = tf.data.Options()
    options.deterministic = False
    options.threading.private_threadpool_size = 2
    records = tf.data.TFRecordDataset(job.shards, num_parallel_reads=2, buffer_size=4 << 20)
    records = records.shuffle(1000 if job.task.data == "photos" else min(job.size, 10_000))
    if not job.is_check_pass:
        records = records.repeat()
    samples = records.map(_digit(job) if job.task.recipe in _DIGITS else _photo(job), tf.data.AUTOTUNE)
    batches = samples.batch(job.num_records, drop_remainder=not job.is_check_pass)
    if job.task.recipe in _DIGITS:
        batches = batches.map(lambda image, label: (tf.cast(image, tf.float32) * (1 / 255), label), tf.data.AUTOTUNE)
    for batch in batches.prefetch(2).with_options(options):
        yield int(batch[1].shape[0]), batch


def _example(payload: Any) -> tuple[Any, Any]:
    import tensorflow as tf

    wanted = {"image": tf.io.FixedLenFeature([], tf.string), "label": tf.io.FixedLenFeature([], tf.int64)}
    example = tf.io.parse_single_example(payload, wanted)
    return example["image"], example["label"]


def _digit(job: Job) -> Any:
    import tensorflow as tf

    def parse(payload: Any) -> tuple[Any, Any]:
        data, label = _example(payload)
        if job.task.recipe == "array":
            return tf.reshape(tf.io.decode_raw(data, tf.uint8), [28, 28]), label
        image = tf.io.decode_png(data, channels=1)
        image.set_shape([28, 28, 1])
        return image, label

    return parse


def _window(shape: Any, recipe: str) -> Any:
    """Return top, left, height and width of the window to crop."""
    import tensorflow as tf

    if recipe == "center":
        shorter = tf.cast(tf.minimum(shape[0], shape[1]), tf.float32)
        side = tf.cast(shorter * (SIDE / SHORTER), tf.int32)
        return tf.stack([(shape[0] - side) // 2, (shape[1] - side) // 2, side, side])
    begin, size, _ = tf.image.sample_distorted_bounding_box(
        shape,
        tf.zeros([1, 0, 4]),
        area_range=(0.08, 1.0),
        aspect_ratio_range=(3 / 4, 4 / 3),
        max_attempts=10,
        use_image_if_no_bounding_boxes=True,
    )
    return tf.stack([begin[0], begin[1], size[0], size[1]])


def _photo(job: Job) -> Any:
    import tensorflow as tf

    recipe = job.task.recipe
    fast = {"dct_method": "INTEGER_FAST", "fancy_upscaling": False} if job.variant.endswith("fast") else {}
    # Tensors of full size, because broadcasting over three channels is slow.
    full = (SIDE, SIDE, 3)
    factors = tf.reshape(tf.tile(1 / tf.constant(STD), [SIDE * SIDE]), full)
    offsets = tf.reshape(tf.tile(tf.constant(MEAN) / tf.constant(STD), [SIDE * SIDE]), full)

    def parse(payload: Any) -> tuple[Any, Any]:
        data, label = _example(payload)
        window = _window(tf.io.extract_jpeg_shape(data), recipe)
        image = tf.image.resize(tf.io.decode_and_crop_jpeg(data, window, channels=3, **fast), full[:2])
        if recipe != "center":
            image = tf.image.random_flip_left_right(image)
        image = tf.saturate_cast(image + 0.5, tf.uint8) if recipe == "crop-uint8" else image * factors - offsets
        image.set_shape(full)
        return image, label

    return parse


def arrays(_: Job, delivered: Any) -> tuple[Any, Any]:
    """Return images and labels of a batch."""
    return delivered[0].numpy(), delivered[1].numpy()
