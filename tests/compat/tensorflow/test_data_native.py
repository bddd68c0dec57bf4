"""tf.data: whole batches in native code give what the functions give one by one, in the same order."""

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
from recordmill.compat.tensorflow.data import bands, chains, whole as whole_programs
from recordmill.compat.tensorflow.data.base import steps
from recordmill.compat.tensorflow.data.elements import Element, Failed
from recordmill.compat.tensorflow.data.fusing import Fused
from recordmill.compat.tensorflow.data.structures import leaves

Image = pytest.importorskip("PIL.Image")
FEATURES = {"image": tf.io.FixedLenFeature([], tf.string), "label": tf.io.FixedLenFeature([], tf.int64)}


def encoded(number: int, kind: str) -> bytes:
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
                writer.write({"image": encoded(number, kinds[number % len(kinds)]), "label": number})
    return sorted(map(str, folder.glob("*.tfrecord")))


def tutorial(serialized: Any) -> Any:
    parsed = tf.io.parse_single_example(serialized, FEATURES)
    parsed["image"] = tf.io.decode_jpeg(parsed["image"], channels=3)
    image = tf.image.resize(parsed["image"], (24, 32)) / 255
    return image, tf.stack([tf.cast(parsed["label"], "int32")])


DECODERS: dict[str, Callable[[Any], Any]] = {
    "jpeg": lambda data: tf.io.decode_jpeg(data, channels=3),
    "grey": lambda data: tf.io.decode_jpeg(data, channels=1, dct_method="INTEGER_ACCURATE"),
    "plain": lambda data: tf.image.decode_jpeg(data, 3, fancy_upscaling=False),
    "image": lambda data: tf.io.decode_image(data, channels=3, expand_animations=False),
    "half": lambda data: tf.io.decode_jpeg(data, channels=3, ratio=2),
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
    "scaled": lambda image: tf.cast(image, tf.float32) / 255.0,
    "converted": lambda image: tf.image.convert_image_dtype(image, tf.float32),
    "mirrored": tf.image.flip_left_right,
    "by chance": tf.image.random_flip_left_right,
    "cut by chance": lambda image: tf.image.random_crop(image, [8, 9, 1 if image.shape[-1] == 1 else 3]),
    "brighter by chance": lambda image: tf.image.random_brightness(image, 0.2),
    "less the mean": lambda image: (tf.cast(image, tf.float32) - tf.constant(3.5)) * [2.0],
    "standard": tf.image.per_image_standardization,
    "from a constant": lambda image: 1.0 - 3.0 / (tf.image.convert_image_dtype(image, tf.float32) + 0.25),
    "by channel": lambda image: (tf.cast(image, tf.float32) - [1.0, 2.0, 3.5]) / tf.constant([2.0, 0.3, 7.0]),
    "between": lambda image: tf.minimum(tf.maximum(tf.cast(image, tf.float32), 3.0), 200.0),
    "used twice": lambda image: tf.stack([tf.cast(image, tf.float32) * 2.0] * 2)[0] + 1.0,
    "mirrored or not": lambda image: tf.cond(
        tf.random.uniform([]) > 0.5, lambda: tf.image.flip_left_right(image), lambda: image
    ),
    "one of three": lambda image: tf.switch_case(
        tf.random.uniform([], 0, 4, tf.int32),
        [lambda: image, lambda: tf.image.flip_up_down(image), lambda: tf.image.flip_left_right(image)],
    ),
}
BEFORE: dict[str, Callable[[Any], Any]] = {
    "nothing": lambda image: image,
    "floats": lambda image: tf.image.convert_image_dtype(image, tf.float32),
    "divided": lambda image: tf.cast(image, tf.float32) / 127.5 - 1.0,
    "the middle": lambda image: tf.image.central_crop(image, 0.75),
    "cut or filled": lambda image: tf.image.resize_with_crop_or_pad(image, 21, 33),
    "mirrored by chance": tf.image.random_flip_left_right,
}
ORDERS: dict[str, Callable[[Any], Any]] = {
    "shuffled": lambda dataset: dataset.shuffle(5, seed=3),
    "shuffled once": lambda dataset: dataset.shuffle(100, reshuffle_each_iteration=False, seed=1),
    "repeated": lambda dataset: dataset.repeat(2),
    "taken": lambda dataset: dataset.take(9),
    "skipped": lambda dataset: dataset.skip(2),
    "a share": lambda dataset: dataset.shard(2, 1),
    "ahead": lambda dataset: dataset.prefetch(2),
}


def check_equal(make: Callable[[], Any]) -> None:
    """Hold both ways of a pipeline against one another, to the bit; the native one must not fall back."""
    tf.random.set_seed(7)
    with pytest.MonkeyPatch.context() as patch:
        left: list[Any] = []
        one_by_one = Fused.one_by_one
        patch.setattr(Fused, "one_by_one", lambda self, group: left.append(one_by_one(self, group)) or left[-1])
        whole = steps(make())
    assert all(isinstance(step, Failed) for step in left)
    tf.random.set_seed(7)
    single = steps(make(), whole_batches=False)
    assert len(whole) == len(single) or any(isinstance(step, Failed) for step in whole + single)
    for one, other in zip(whole, single, strict=False):
        if isinstance(one, Failed) or isinstance(other, Failed):
            break  # steps between a function and its batch meet an error earlier in one way than in the other
        assert isinstance(one, Element)
        for array, expected in zip(leaves(one.value), leaves(other.value), strict=True):
            assert array.dtype == expected.dtype
            np.testing.assert_array_equal(array.numpy(), expected.numpy())


def test_tutorials_pipeline_when_explained_then_runs_natively(paths: list[str]) -> None:
    dataset = tf.data.TFRecordDataset(paths).repeat().map(tutorial).shuffle(8).batch(4).prefetch(-1)
    assert dataset.explain() == (
        "native: map(tutorial).batch(4) for whole batches: records parsed together, images decoded and resized together"
    )
    images, labels = next(iter(dataset))
    assert images.shape == (4, 24, 32, 3) and images.dtype == tf.float32 and labels.dtype == tf.int32


@settings(max_examples=12, deadline=None)
@given(data=st.data())
def test_pipeline_when_random_then_gives_the_same_in_both_ways(data: st.DataObject, paths: list[str]) -> None:
    run_random(data, paths)


@pytest.mark.deep
@settings(max_examples=200, deadline=None)
@given(data=st.data())
def test_pipelines_when_many_are_random_then_give_the_same_in_both_ways(data: st.DataObject, paths: list[str]) -> None:
    run_random(data, paths)


def run_random(data: st.DataObject, paths: list[str]) -> None:
    """Draw a function and a pipeline around it."""
    decode = data.draw(st.sampled_from(sorted(DECODERS)))
    resize = data.draw(st.sampled_from(sorted(RESIZES)))
    changes = data.draw(st.lists(st.sampled_from(sorted(CHANGES)), max_size=3, unique=True))
    before = data.draw(st.sampled_from(sorted(BEFORE)))
    early, late = (data.draw(st.lists(st.sampled_from(sorted(ORDERS)), max_size=2)) for _ in range(2))
    size, drop, files = data.draw(st.integers(1, 7)), data.draw(st.booleans()), data.draw(st.integers(0, 2))

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
        return dataset.batch(size, drop_remainder=drop and size < 3)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bands, "_HELD", data.draw(st.sampled_from([1, 1 << 12, 2 << 20])))
        for module in (chains, whole_programs):
            patch.setattr(module, "_LARGE", data.draw(st.sampled_from([8, 1 << 11, 64 << 10])))
        check_equal(make)


def test_maps_when_two_stand_before_a_batch_then_both_run_for_whole_batches(paths: list[str]) -> None:
    def make() -> Any:
        dataset = tf.data.TFRecordDataset(paths).map(tutorial).shuffle(4, seed=1)
        return dataset.map(lambda image, label: (tf.image.random_flip_left_right(image), label - 1)).batch(5)

    assert make().explain().startswith("native: map(tutorial, <lambda>).batch(5)")
    check_equal(make)


def test_functions_when_they_need_values_then_run_as_python_and_say_why(paths: list[str]) -> None:
    def counting(serialized: Any) -> Any:
        image, label = tutorial(serialized)
        while label[0] > 20:
            label = label - 1
        return image, label

    def numpy(serialized: Any) -> Any:
        image, label = tutorial(serialized)
        return np.asarray(image)[::-1], label

    for function, reason in ((counting, "depends on values"), (numpy, "NumPy")):
        dataset = tf.data.TFRecordDataset(paths[1]).map(function, num_parallel_calls=2).batch(4)
        assert dataset.explain().startswith("python: ") and reason in dataset.explain()
        images, labels = next(dataset.as_numpy_iterator())
        assert images.shape == (4, 24, 32, 3) and labels[:, 0].tolist() == [0, 1, 2, 3]


def test_function_when_recordable_then_is_called_once(paths: list[str]) -> None:
    calls = []

    def function(serialized: Any) -> Any:
        calls.append(1)
        return tutorial(serialized)

    assert len(list(tf.data.TFRecordDataset(paths).map(function).batch(4).repeat(2))) == 14
    assert len(calls) == 1


def test_image_when_damaged_then_the_error_names_the_record(tmp_path: Path) -> None:
    with rm.ShardWriter(tmp_path / "bad", format="tfrecord", shards=1) as writer:
        for number in range(9):
            data = encoded(number, "JPEG")
            writer.write({"image": data if number != 6 else b"no image", "label": number})
    [path] = map(str, tmp_path.glob("*.tfrecord"))
    for whole in (True, False):
        found = steps(tf.data.TFRecordDataset(path).map(tutorial).batch(2), whole_batches=whole)
        [failed] = [step for step in found if hasattr(step, "error")]
        error = failed.error
        assert isinstance(error, tf.errors.InvalidArgumentError)
        assert (error.shard, error.record) == (path, 6) and error.offset > 0
        assert found.index(failed) == 3 and len(found) == 5
    rest = tf.data.TFRecordDataset(path).map(tutorial).batch(2).ignore_errors()
    assert [labels[:, 0].tolist() for _, labels in rest.as_numpy_iterator()] == [[0, 1], [2, 3], [4, 5], [8]]
