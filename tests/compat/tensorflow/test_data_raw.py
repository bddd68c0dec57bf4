"""tf.data: native batches of arrays stored as bytes equal single elements."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import recordmill as rm
import recordmill.compat.tensorflow as tf

SPECS = {"raw": tf.io.FixedLenFeature([], tf.string), "label": tf.io.FixedLenFeature([], tf.int64)}


@pytest.fixture
def path(tmp_path: Path) -> str:
    with rm.ShardWriter(tmp_path / "a", format="tfrecord", shards=1) as writer:
        for number in range(10):
            size = 24 if number < 8 else 12 * number
            writer.write({"raw": np.arange(size, dtype=np.uint8).tobytes(), "label": number})
    return str(next(tmp_path.glob("*.tfrecord")))


def shaped(x: Any) -> Any:
    return tf.reshape(x, [2, 3, -1])


FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "plain": lambda raw: shaped(tf.io.decode_raw(raw, tf.uint8)),
    "named": lambda raw: shaped(tf.io.decode_raw(input_bytes=raw, out_type=tf.int32, little_endian=False)),
    "one length": lambda raw: tf.io.decode_raw(raw, tf.int16, fixed_length=6),
    "scaled": lambda raw: tf.cast(shaped(tf.io.decode_raw(raw, tf.uint8)), tf.float32) * (1.0 / 255) - 0.5,
    "channels first": lambda raw: tf.transpose(shaped(tf.io.decode_raw(raw, tf.uint8)), [2, 0, 1]),
    "negative axis": lambda raw: tf.transpose(shaped(tf.io.decode_raw(raw, tf.uint8)), perm=[-1, 0, 1]),
    "reversed axes": lambda raw: tf.transpose(shaped(tf.io.decode_raw(raw, tf.uint8))),
}


def outcome(run: Callable[[], list[Any]]) -> Any:
    try:
        return [[np.asarray(part).tolist() for part in one] for one in run()]
    except tf.errors.InvalidArgumentError as error:
        return str(error).split("\n")[0]


@pytest.mark.parametrize("parse", [tf.io.parse_single_example, tf.parse_single_example])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_native_batches_of_raw_arrays_equal_single_elements(path: str, name: str, parse: Callable[..., Any]) -> None:
    def function(record: Any) -> Any:
        found = parse(record, SPECS)
        return FUNCTIONS[name](found["raw"]), found["label"]

    alike = tf.data.TFRecordDataset(path).take(8).map(function)
    batches = alike.batch(3)
    assert "records parsed together" in batches.explain() and "sample by sample" not in batches.explain()
    assert outcome(lambda: list(batches.unbatch())) == outcome(lambda: list(alike))


@pytest.mark.parametrize("order", [[0, 1, 5], [0, 0, 1], [0, 1]])
def test_transpose_rejects_invalid_permutation_in_native_batches(path: str, order: list[int]) -> None:
    def function(record: Any) -> Any:
        return tf.transpose(shaped(tf.io.decode_raw(tf.io.parse_single_example(record, SPECS)["raw"], tf.uint8)), order)

    data = tf.data.TFRecordDataset(path).take(4).map(function)
    with pytest.raises(tf.errors.InvalidArgumentError) as single:
        list(data)
    with pytest.raises(tf.errors.InvalidArgumentError) as several:
        list(data.batch(2))
    assert str(several.value) == str(single.value)


def test_batch_rejects_raw_arrays_of_different_lengths(path: str) -> None:
    data = tf.data.TFRecordDataset(path).map(
        lambda one: tf.io.decode_raw(tf.io.parse_single_example(one, SPECS)["raw"], tf.uint8)
    )
    with pytest.raises(tf.errors.InvalidArgumentError, match="Cannot batch tensors with different shapes"):
        list(data.batch(10))
