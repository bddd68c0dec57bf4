"""tf.data: native batches equal those of functions that run element by element, in the same order."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import recordmill as rm
import recordmill.compat.tensorflow as tf
from tests.compat.tensorflow.pipelines import check_equal, encode, run

Image = pytest.importorskip("PIL.Image")
FEATURES = {"image": tf.io.FixedLenFeature([], tf.string), "label": tf.io.FixedLenFeature([], tf.int64)}


def encode_pattern(number: int, kind: str) -> bytes:
    y, x = np.mgrid[: 20 + 5 * number, : 30 + 3 * number]
    pixels = np.stack([x * 7 + number, y * 5, x + y * 3], axis=-1).astype(np.uint8)
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, kind)
    return file.getvalue()


@pytest.fixture(scope="module")
def paths(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    folder = tmp_path_factory.mktemp("records")
    for name, kinds in (("photos", ["JPEG"]), ("mixed", ["JPEG", "PNG", "JPEG", "GIF"])):
        with rm.ShardWriter(folder / name, format="tfrecord", shards=1) as writer:
            for number in range(13):
                writer.write({"image": encode_pattern(number, kinds[number % len(kinds)]), "label": number})
    return sorted(map(str, folder.glob("*.tfrecord")))


def tutorial(serialized: Any) -> Any:
    parsed = tf.io.parse_single_example(serialized, FEATURES)
    parsed["image"] = tf.io.decode_jpeg(parsed["image"], channels=3)
    image = tf.image.resize(parsed["image"], (24, 32)) / 255
    return image, tf.stack([tf.cast(parsed["label"], "int32")])


DECODERS: dict[str, Callable[[Any], Any]] = {
    "jpeg": lambda data: tf.io.decode_jpeg(data, channels=3),
    "grayscale": lambda data: tf.io.decode_jpeg(data, channels=1, dct_method="INTEGER_ACCURATE"),
    "plain upscaling": lambda data: tf.image.decode_jpeg(data, 3, fancy_upscaling=False),
    "image": lambda data: tf.io.decode_image(data, channels=3, expand_animations=False),
    "channels of the file": tf.io.decode_jpeg,
    "half": lambda data: tf.io.decode_jpeg(data, channels=3, ratio=2),
    "cropped": lambda data: tf.io.decode_and_crop_jpeg(data, tf.constant([1, 2, 18, 20]), channels=3),
}
RESIZES: dict[str, Callable[[Any], Any]] = {
    "bilinear": lambda image: tf.image.resize(image, (12, 10)),
    "antialiased": lambda image: tf.image.resize(image, [9, 14], antialias=True),
    "nearest": lambda image: tf.image.resize(image, [16, 16], method="nearest"),
    "area": lambda image: tf.image.resize(image, [8, 11], "area"),
    "bicubic": lambda image: tf.image.resize(image, [8, 11], method=tf.image.ResizeMethod.BICUBIC),
    "padded": lambda image: tf.image.resize_with_pad(image, 14, 15),
}
CHANGES: dict[str, Callable[[Any], Any]] = {
    "scale": lambda image: tf.cast(image, tf.float32) / 255.0,
    "convert": lambda image: tf.image.convert_image_dtype(image, tf.float32),
    "flip": tf.image.flip_left_right,
    "random flip": tf.image.random_flip_left_right,
    "random crop": lambda image: tf.image.random_crop(image, [8, 9, 1 if image.shape[-1] == 1 else 3]),
    "random brightness": lambda image: tf.image.random_brightness(image, 0.2),
    "subtract": lambda image: (tf.cast(image, tf.float32) - tf.constant(3.5)) * [2.0],
    "standardize": tf.image.per_image_standardization,
    "divide constant": lambda image: 1.0 - 3.0 / (tf.image.convert_image_dtype(image, tf.float32) + 0.25),
    "per channel": lambda image: (tf.cast(image, tf.float32) - [1.0, 2.0, 3.5]) / tf.constant([2.0, 0.3, 7.0]),
    "clip": lambda image: tf.clip_by_value(tf.maximum(tf.cast(image, tf.float32), 3.0), 0.0, 200.0),
    "use twice": lambda image: tf.stack([tf.cast(image, tf.float32) * 2.0] * 2)[0] + 1.0,
    "slice": lambda image: image[1:7, ..., :1],
    "cond": lambda image: tf.cond(tf.random.uniform([]) > 0.5, lambda: tf.image.flip_left_right(image), lambda: image),
    "if": lambda image: tf.image.flip_up_down(image) if tf.random.uniform([]) > 0.5 else image,
}
BEFORE: dict[str, Callable[[Any], Any]] = {
    "nothing": lambda image: image,
    "convert": lambda image: tf.image.convert_image_dtype(image, tf.float32),
    "scale": lambda image: tf.cast(image, tf.float32) / 127.5 - 1.0,
    "central crop": lambda image: tf.image.central_crop(image, 0.75),
    "convert and crop": lambda image: tf.image.central_crop(tf.image.convert_image_dtype(image, tf.float32), 0.6),
    "crop and cast": lambda image: tf.cast(tf.image.central_crop(image, 0.45), tf.float32),
    "crop or pad": lambda image: tf.image.resize_with_crop_or_pad(image, 21, 33),
    "random flip": tf.image.random_flip_left_right,
}
ORDERS: dict[str, Callable[[Any], Any]] = {
    "shuffle": lambda dataset: dataset.shuffle(5, seed=3),
    "shuffle once": lambda dataset: dataset.shuffle(100, reshuffle_each_iteration=False, seed=1),
    "repeat": lambda dataset: dataset.repeat(2),
    "take": lambda dataset: dataset.take(9),
    "skip": lambda dataset: dataset.skip(2),
    "shard": lambda dataset: dataset.shard(2, 1),
    "prefetch": lambda dataset: dataset.prefetch(2),
}
BATCHES: dict[str, Callable[[Any, int], Any]] = {
    "batch": lambda dataset, size: dataset.batch(size),
    "drop remainder": lambda dataset, size: dataset.batch(size, drop_remainder=True),
    "padded batch": lambda dataset, size: dataset.padded_batch(size),
    "padded to a shape": lambda dataset, size: dataset.map(lambda one: one["image"]).padded_batch(size, [30, 40, None]),
    "unbatch": lambda dataset, size: dataset.batch(size).unbatch(),
    "filter": lambda dataset, size: dataset.filter(lambda one: one["label"][1] % 3 > 0).batch(size),
}


def test_tutorial_pipeline_runs_natively(paths: list[str]) -> None:
    dataset = tf.data.TFRecordDataset(paths).repeat().map(tutorial).shuffle(8).batch(4).prefetch(-1)
    assert dataset.explain() == (
        "native: map(tutorial), batches of 4: records parsed together, images decoded and resized together"
    )
    images, labels = next(iter(dataset))
    assert images.shape == (4, 24, 32, 3) and images.dtype == tf.float32 and labels.dtype == tf.int32


@settings(max_examples=20, deadline=None)
@given(data=st.data())
def test_random_pipeline_is_equal_natively_and_per_element(data: st.DataObject, paths: list[str]) -> None:
    check_random(data, paths)


@pytest.mark.campaign
@settings(max_examples=300, deadline=None)
@given(data=st.data())
def test_many_random_pipelines_are_equal_natively_and_per_element(data: st.DataObject, paths: list[str]) -> None:
    check_random(data, paths)


def check_random(data: st.DataObject, paths: list[str]) -> None:
    """Draw a function and a pipeline around it."""
    decode = data.draw(st.sampled_from(sorted(DECODERS)))
    resize = data.draw(st.sampled_from(sorted(RESIZES)))
    changes = data.draw(st.lists(st.sampled_from(sorted(CHANGES)), max_size=3, unique=True))
    before = data.draw(st.sampled_from(sorted(BEFORE)))
    early, late = (data.draw(st.lists(st.sampled_from(sorted(ORDERS)), max_size=2)) for _ in range(2))
    batch, size = data.draw(st.sampled_from(sorted(BATCHES))), data.draw(st.integers(1, 7))
    files = 0 if decode == "cropped" else data.draw(st.integers(0, 2))

    def function(serialized: Any) -> Any:
        parsed = tf.io.parse_single_example(serialized, FEATURES)
        image = RESIZES[resize](BEFORE[before](DECODERS[decode](parsed["image"])))
        for name in changes:
            image = CHANGES[name](image)
        return {"image": image, "label": (tf.one_hot(parsed["label"], 13), parsed["label"] * 2 + 1)}

    def make() -> Any:
        dataset: Any = tf.data.TFRecordDataset(paths[1:] if files else paths, num_parallel_reads=files or None)
        for name in early:
            dataset = ORDERS[name](dataset)
        dataset = dataset.map(function)
        for name in late:
            dataset = ORDERS[name](dataset)
        return BATCHES[batch](dataset, size)

    check_equal(make)


def test_two_maps_before_a_batch_both_run_natively(paths: list[str]) -> None:
    def make() -> Any:
        dataset = tf.data.TFRecordDataset(paths).map(tutorial).shuffle(4, seed=1)
        return dataset.map(lambda image, label: (tf.image.random_flip_left_right(image), label - 1)).batch(5)

    assert [line[:6] for line in make().explain().splitlines()] == ["native", "native"]
    check_equal(make)


def test_function_that_needs_values_runs_per_element_and_explain_says_why(paths: list[str]) -> None:
    def counting(serialized: Any) -> Any:
        image, label = tutorial(serialized)
        while label[0] > 20:
            label = label - 1
        return image, label

    def numpy(serialized: Any) -> Any:
        image, label = tutorial(serialized)
        return np.asarray(image)[::-1], label

    for function, reason in ((counting, "depends on a value"), (numpy, "NumPy")):
        dataset = tf.data.TFRecordDataset(paths[1]).map(function, num_parallel_calls=2).batch(4)
        assert dataset.explain().startswith("per element: ") and reason in dataset.explain()
        images, labels = next(dataset.as_numpy_iterator())
        assert images.shape == (4, 24, 32, 3) and labels[:, 0].tolist() == [0, 1, 2, 3]


def test_operation_without_batch_rule_is_named_by_explain(paths: list[str]) -> None:
    def function(serialized: Any) -> Any:
        image, label = tutorial(serialized)
        return tf.image.per_image_standardization(image), label

    def make() -> Any:
        return tf.data.TFRecordDataset(paths).map(function).batch(4)

    assert "image.per_image_standardization has no batch rule" in make().explain()
    check_equal(make)


def test_traceable_function_is_called_once(paths: list[str]) -> None:
    calls = []

    def function(serialized: Any) -> Any:
        calls.append(1)
        return tutorial(serialized)

    assert len(list(tf.data.TFRecordDataset(paths).map(function).batch(4).repeat(2))) == 14
    assert len(calls) == 1


@pytest.mark.parametrize("native", [True, False])
def test_error_of_a_damaged_image_names_the_record(tmp_path: Path, native: bool) -> None:
    with rm.ShardWriter(tmp_path / "bad", format="tfrecord", shards=1) as writer:
        for number in range(9):
            data = encode_pattern(number, "JPEG")
            writer.write({"image": data if number != 6 else b"no image", "label": number})
    [path] = map(str, tmp_path.glob("*.tfrecord"))
    found = run(tf.data.TFRecordDataset(path).map(tutorial).batch(2), native=native)
    [failed] = [step for step in found if hasattr(step, "error")]
    error = failed.error
    assert isinstance(error, tf.errors.InvalidArgumentError)
    assert (error.shard, error.record) == (path, 6) and error.offset > 0
    assert found.index(failed) == 3 and len(found) == 5
    rest = tf.data.TFRecordDataset(path).map(tutorial).batch(2).ignore_errors()
    assert [labels[:, 0].tolist() for _, labels in rest.as_numpy_iterator()] == [[0, 1], [2, 3], [4, 5], [8]]


def test_random_box_and_cropped_decode_run_natively() -> None:
    files = [encode((40, 50, 3), "JPEG", number) for number in range(6)]

    def function(data: Any) -> Any:
        shape = tf.io.extract_jpeg_shape(data)
        begin, size, _ = tf.image.sample_distorted_bounding_box(
            shape, tf.constant([[[0.1, 0.1, 0.9, 0.9]]]), min_object_covered=0.3, seed=3
        )
        y, x, _ = tf.unstack(begin)
        height, width, _ = tf.unstack(size)
        return tf.image.resize(tf.image.decode_and_crop_jpeg(data, tf.stack([y, x, height, width]), channels=3), [8, 8])

    def make() -> Any:
        return tf.data.Dataset.from_tensor_slices(files).map(function).batch(4)

    assert make().explain() == "native: map(function), batches of 4: images decoded and resized together"
    check_equal(make)


def test_decoded_image_used_twice_equals_per_element() -> None:
    def function(data: Any) -> Any:
        floats = tf.cast(tf.io.decode_png(data, channels=3), tf.float32)
        return tf.image.resize(floats, [4, 4]), floats * 2.0

    def views(data: Any) -> Any:
        image = tf.io.decode_png(data, channels=3)
        return tuple(tf.image.random_flip_left_right(tf.image.resize(image, [6, 5])) / 255.0 for _ in range(2))

    files = [encode((9, 10, 3), "PNG", number) for number in range(12)]
    for one in (function, views):
        check_equal(lambda f=one: tf.data.Dataset.from_tensor_slices(files).map(f).batch(6))


def test_evaluation_pipeline_with_central_crop_runs_natively() -> None:
    def function(data: Any) -> Any:
        image = tf.image.convert_image_dtype(tf.io.decode_jpeg(data, channels=3), tf.float32)
        image = tf.image.resize(tf.image.central_crop(image, 0.875), [12, 12])
        return tf.clip_by_value((image - 0.5) * 2.0, -1.0, 1.0)

    files = [encode((20 + number, 41 - number, 3), "JPEG", number) for number in range(9)]
    dataset = tf.data.Dataset.from_tensor_slices(files).map(function).batch(4)
    assert dataset.explain() == "native: map(function), batches of 4: images decoded and resized together"
    check_equal(lambda: dataset)
