"""Recorded functions done to many elements at a time give what they give one by one, element by element."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import recordmill as rm
import recordmill.compat.tensorflow as tf
from recordmill.compat.tensorflow.data import chunks
from recordmill.compat.tensorflow.data.base import steps
from recordmill.compat.tensorflow.data.elements import Failed
from recordmill.compat.tensorflow.data.structures import leaves

D = tf.data.Dataset
COUNT = 150
FEATURES = {
    "raw": tf.io.FixedLenFeature([], tf.string),
    "label": tf.io.FixedLenFeature([], tf.int64, -1),
    "boxes": tf.io.VarLenFeature(tf.float32),
    "words": tf.io.VarLenFeature(tf.string),
    "pairs": tf.io.FixedLenSequenceFeature([2], tf.int64, allow_missing=True),
    "steps": tf.io.FixedLenSequenceFeature([], tf.float32, allow_missing=True, default_value=7.0),
}


def example(number: int) -> dict[str, Any]:
    made = {
        "raw": bytes([number % 251]) * 12,
        "boxes": [0.5] * (number % 4),
        "words": [b"w" * place for place in range(number % 3)],
        "pairs": list(range(2 * (number % 3))),
        "steps": [1.5] * (number % 5),
    }
    return made if number % 10 == 9 else {**made, "label": number}


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("chunks")
    with rm.ShardWriter(folder / "a.tfrecord") as writer:
        for number in range(COUNT):
            writer.write(example(number))
    return str(folder / "a.tfrecord")


def parsed(record: Any) -> Any:
    return tf.io.parse_single_example(record, FEATURES)


def dense(record: Any) -> Any:
    found = parsed(record)
    pixels = tf.cast(tf.reshape(tf.io.decode_raw(found["raw"], tf.uint8), [3, 4]), tf.float32) / 255.0
    return (
        pixels,
        tf.sparse.to_dense(found["boxes"]),
        tf.sparse.to_dense(found["words"]),
        found["label"],
        found["pairs"],
    )


def strict(record: Any) -> Any:
    found = tf.io.parse_single_example(record, {"label": tf.io.FixedLenFeature([], tf.int64)})
    return found["label"] * 2


PIPELINES: dict[str, Callable[[Any], Any]] = {
    "parsed": lambda records: records.map(parsed),
    "dense": lambda records: records.map(dense),
    "in threads": lambda records: records.map(dense, num_parallel_calls=2),
    "twice": lambda records: records.map(dense).map(lambda pixels, *_: pixels * 2 - 1),
    "kept": lambda records: records.map(parsed).filter(lambda found: found["label"] % 3 == 0),
    "kept by a list": lambda records: records.map(dense).filter(lambda pixels, boxes, *_: tf.reduce_sum(boxes) > 0.6),
    "all left out": lambda records: records.map(dense).filter(lambda *parts: parts[3] < -5),
    "shuffled": lambda records: records.map(dense).shuffle(40, seed=2),
    "padded": lambda records: records.map(dense).padded_batch(7, ([3, 4], [None], [None], [], [None, 2])),
    "sparse batches": lambda records: (
        records.map(parsed).batch(8).map(lambda found: tf.sparse.to_dense(found["boxes"]))
    ),
    "by chance": lambda records: records.map(lambda record: tf.random.uniform([2], seed=3) + dense(record)[0][0, 0]),
    "taken": lambda records: records.map(dense).take(5).repeat(2),
    "failing": lambda records: records.map(strict),
    "failing and kept": lambda records: records.map(strict).filter(lambda label: label < 90),
}


FRAMES = {
    "tokens": tf.io.FixedLenSequenceFeature([], tf.int64),
    "places": tf.io.FixedLenSequenceFeature([2], tf.float32, allow_missing=True),
    "words": tf.io.FixedLenSequenceFeature([], tf.string, allow_missing=True),
}


@pytest.fixture(scope="module")
def sequences(tmp_path_factory: pytest.TempPathFactory) -> str:
    name = str(tmp_path_factory.mktemp("sequences") / "a.tfrecord")
    with tf.io.TFRecordWriter(name) as writer:
        for number in range(COUNT):
            tokens = [tf.train.Feature(int64_list=tf.train.Int64List(value=[number]))] * (number % 6)
            places = [tf.train.Feature(float_list=tf.train.FloatList(value=[number, 0.5]))] * (number % 3)
            words = [tf.train.Feature(bytes_list=tf.train.BytesList(value=[b"w"]))] * (number % 4)
            lists = {"tokens": tokens, "places": places, "words": words}
            made = tf.train.SequenceExample(
                context=tf.train.Features(feature={"id": tf.train.Feature(int64_list={"value": [number]})}),
                feature_lists=tf.train.FeatureLists(
                    feature_list={
                        key: tf.train.FeatureList(feature=rows)
                        for key, rows in lists.items()
                        if rows or key == "tokens"
                    }
                ),
            )
            writer.write(made.SerializeToString())
    return name


def read_sequence(record: Any) -> Any:
    context, frames = tf.io.parse_single_sequence_example(record, {"id": tf.io.FixedLenFeature([], tf.int64)}, FRAMES)
    return context["id"], frames


SEQUENCES: dict[str, Callable[[Any], Any]] = {
    "parsed": lambda records: records.map(read_sequence),
    "only frames": lambda records: records.map(
        lambda record: tf.io.parse_single_sequence_example(record, sequence_features=FRAMES)[1]["tokens"] * 2
    ),
    "named": lambda records: records.map(
        lambda record: tf.io.parse_single_sequence_example(
            serialized=record, context_features={"id": tf.io.FixedLenFeature([], tf.int64)}
        )[0]
    ),
    "padded": lambda records: records.map(lambda record: read_sequence(record)[1]["tokens"]).padded_batch(8),
    "by length": lambda records: records.map(
        lambda record: read_sequence(record)[1]["tokens"]
    ).bucket_by_sequence_length(lambda tokens: tf.shape(tokens)[0], [2, 4], [5, 5, 5]),
    "wrong": lambda records: records.map(
        lambda record: tf.io.parse_single_sequence_example(record, {"none": tf.io.FixedLenFeature([], tf.int64)})
    ).take(3),
}


@pytest.mark.parametrize("name", SEQUENCES)
def test_sequences_when_parsed_together_then_are_those_parsed_one_by_one(name: str, sequences: str) -> None:
    made = SEQUENCES[name](tf.data.TFRecordDataset(sequences))
    assert "records parsed together" in made.explain()
    found = [told(step) for step in steps(made)]
    assert found == [told(step) for step in steps(made, whole_batches=False)] and found


def told(step: Any) -> Any:
    if isinstance(step, Failed):
        return type(step.error), str(step.error)
    parts = [
        one
        for leaf in leaves(step.value)
        for one in ((leaf.indices, leaf.values, leaf.dense_shape) if hasattr(leaf, "dense_shape") else (leaf,))
    ]
    return [(one.dtype, one.shape.as_list(), np.asarray(one.numpy()).tolist()) for one in parts]


@pytest.mark.parametrize("name", PIPELINES)
def test_elements_when_done_together_then_are_those_done_one_by_one(name: str, path: str) -> None:
    found = []
    for together in (True, False):
        tf.random.set_seed(5)
        found.append(
            [told(step) for step in steps(PIPELINES[name](tf.data.TFRecordDataset(path)), whole_batches=together)]
        )
    assert found[0] == found[1] and (found[0] or name == "all left out")


@pytest.mark.parametrize("name", ["parsed", "dense", "kept", "failing"])
def test_functions_when_they_can_be_then_are_done_together(
    name: str, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes: list[int] = []
    run = chunks.Chunked.run
    monkeypatch.setattr(
        chunks.Chunked, "run", lambda self, values, places: sizes.append(len(values)) or run(self, values, places)
    )
    steps(PIPELINES[name](tf.data.TFRecordDataset(path)))
    assert sizes[:6] == [2, 4, 8, 16, 32, 64] or name == "kept"
    assert max(sizes) == 64


ONES: dict[str, Callable[[Any, int], Any]] = {
    "argmax": tf.argmax,
    "argmin": lambda x, axis: tf.argmin(x, axis=axis, output_type=tf.int32),
    "max": tf.reduce_max,
    "min of all": lambda x, _: tf.reduce_min(x),
    "max kept": lambda x, axis: tf.reduce_max(x, [axis], keepdims=True),
    "any": lambda x, axis: tf.reduce_any(x > 3, axis=axis),
    "all": lambda x, _: tf.reduce_all(x > 3),
}


@given(st.sampled_from(sorted(ONES)), st.integers(1, 3), st.data())
@settings(max_examples=60, deadline=None)
def test_reductions_when_done_together_then_are_those_done_one_by_one(name: str, rank: int, data: Any) -> None:
    shape = data.draw(st.lists(st.integers(1, 3), min_size=rank, max_size=rank))
    axis = data.draw(st.integers(-rank, rank - 1))
    rows = np.random.default_rng(data.draw(st.integers(0, 99))).integers(0, 6, (9, *shape)).astype(np.float32)
    dataset = D.from_tensor_slices(rows).map(lambda x: ONES[name](x, axis))
    assert [told(step) for step in steps(dataset)] == [told(step) for step in steps(dataset, whole_batches=False)]


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"method": "nearest"},
        {"method": "area"},
        {"method": "bicubic"},
        {"antialias": True},
        {"method": "lanczos3"},
        {"preserve_aspect_ratio": True},
    ],
)
@pytest.mark.parametrize("dtype", ["uint8", "float32"])
def test_pictures_when_resized_together_then_are_those_resized_one_by_one(options: dict, dtype: str) -> None:
    rows = np.random.default_rng(3).integers(0, 256, (21, 9, 13, 3)).astype(dtype)
    dataset = D.from_tensor_slices(rows).map(lambda image: tf.image.resize(image, [5, 16], **options))
    assert dataset.explain().startswith("native")
    assert [told(step) for step in steps(dataset)] == [told(step) for step in steps(dataset, whole_batches=False)]


def test_generator_when_mapped_then_is_not_asked_for_more_than_is_wanted() -> None:
    given: list[int] = []

    def numbers() -> Iterator[int]:
        for number in range(1000):
            given.append(number)
            yield number

    dataset = D.from_generator(numbers, output_signature=tf.TensorSpec([], tf.int64)).map(lambda x: x + 1)
    given.clear()
    assert [int(x) for x, _ in zip(dataset, range(5), strict=False)] == [1, 2, 3, 4, 5] and len(given) <= 6


def test_elements_when_few_are_wanted_then_few_are_made(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: list[int] = []
    run = chunks.Chunked.run
    monkeypatch.setattr(
        chunks.Chunked, "run", lambda self, values, places: sizes.append(len(values)) or run(self, values, places)
    )
    assert [int(x) for x in D.range(10**6).map(lambda x: x * 2).take(3)] == [0, 2, 4]
    assert sizes == [2]


def test_elements_when_kept_then_do_not_keep_their_neighbours_in_memory() -> None:
    rows = D.from_tensor_slices(np.zeros((40, 5, 5), np.float32)).map(lambda x: x + 1.0)
    assert all(row.numpy().base is None or row.numpy().base.nbytes <= 100 for row in rows)


def test_elements_when_they_become_large_then_few_are_made_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: list[int] = []
    run = chunks.Chunked.run
    monkeypatch.setattr(
        chunks.Chunked, "run", lambda self, values, places: sizes.append(len(values)) or run(self, values, places)
    )
    grown = D.range(40).map(lambda x: tf.cast(x, tf.float32) + np.zeros((700, 700), np.float32))
    assert [float(x[0, 0]) for x in grown] == [*range(40)]
    assert sizes and max(sizes) == 2


def test_functions_when_they_cannot_be_done_together_then_it_is_not_tried_for_ever(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sizes: list[int] = []
    run = chunks.Chunked.run
    monkeypatch.setattr(
        chunks.Chunked, "run", lambda self, values, places: sizes.append(len(values)) or run(self, values, places)
    )
    turned = D.range(500).map(lambda x: tf.one_hot(tf.cast(x % 3, tf.int32), 3, axis=0))
    assert [int(tf.argmax(x)) for x in turned] == [x % 3 for x in range(500)]
    assert sizes and len(sizes) < 10


def test_files_when_read_then_are_read_one_by_one(tmp_path: Path) -> None:
    for number in range(5):
        (tmp_path / f"{number}").write_bytes(b"x" * number)
    names = D.from_tensor_slices([str(tmp_path / f"{number}") for number in range(5)])
    made = names.map(lambda name: (tf.io.read_file(name), tf.equal(name, b"x")))
    assert made.explain().startswith("python") and [len(data.numpy()) for data, _ in made] == [*range(5)]


def test_large_elements_when_mapped_then_are_done_one_by_one() -> None:
    big = D.range(6).map(lambda x: tf.zeros([300, 300]) + tf.cast(x, tf.float32)).map(lambda image: image * 2.0)
    assert [float(image[0, 0]) for image in big] == [0.0, 2.0, 4.0, 6.0, 8.0, 10.0]
