"""Arrays stored as bytes: whole batches give what the functions give one by one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import recordmill as rm
import recordmill.compat.tensorflow as tf

KINDS = {"raw": tf.io.FixedLenFeature([], tf.string), "label": tf.io.FixedLenFeature([], tf.int64)}


@pytest.fixture
def path(tmp_path: Path) -> str:
    with rm.ShardWriter(tmp_path / "a", format="tfrecord", shards=1) as writer:
        for number in range(10):
            size = 24 if number < 8 else 12 * number
            writer.write({"raw": np.arange(size, dtype=np.uint8).tobytes(), "label": number})
    return str(next(tmp_path.glob("*.tfrecord")))


def shaped(x: Any) -> Any:
    return tf.reshape(x, [2, 3, -1])


WAYS: dict[str, Callable[[Any], Any]] = {
    "plain": lambda raw: shaped(tf.io.decode_raw(raw, tf.uint8)),
    "named": lambda raw: shaped(tf.io.decode_raw(input_bytes=raw, out_type=tf.int32, little_endian=False)),
    "one length": lambda raw: tf.io.decode_raw(raw, tf.int16, fixed_length=6),
    "scaled": lambda raw: tf.cast(shaped(tf.io.decode_raw(raw, tf.uint8)), tf.float32) * (1.0 / 255) - 0.5,
    "turned": lambda raw: tf.transpose(shaped(tf.io.decode_raw(raw, tf.uint8)), [2, 0, 1]),
    "from behind": lambda raw: tf.transpose(shaped(tf.io.decode_raw(raw, tf.uint8)), perm=[-1, 0, 1]),
    "turned around": lambda raw: tf.transpose(shaped(tf.io.decode_raw(raw, tf.uint8))),
}


def told(run: Callable[[], list[Any]]) -> Any:
    try:
        return [[np.asarray(part).tolist() for part in one] for one in run()]
    except tf.errors.InvalidArgumentError as error:
        return str(error).split("\n")[0]


@pytest.mark.parametrize("parse", [tf.io.parse_single_example, tf.parse_single_example])
@pytest.mark.parametrize("way", WAYS)
def test_batches_of_raw_arrays_when_made_at_once_then_are_those_made_one_by_one(
    path: str, way: str, parse: Callable[..., Any]
) -> None:
    def function(record: Any) -> Any:
        found = parse(record, KINDS)
        return WAYS[way](found["raw"]), found["label"]

    alike = tf.data.TFRecordDataset(path).take(8).map(function)
    batches = alike.batch(3)
    assert "records parsed together" in batches.explain() and "sample by sample" not in batches.explain()
    assert told(lambda: list(batches.unbatch())) == told(lambda: list(alike))


@pytest.mark.parametrize("order", [[0, 1, 5], [0, 0, 1], [0, 1]])
def test_axes_when_their_order_is_none_then_are_refused_in_batches_too(path: str, order: list[int]) -> None:
    def function(record: Any) -> Any:
        return tf.transpose(shaped(tf.io.decode_raw(tf.io.parse_single_example(record, KINDS)["raw"], tf.uint8)), order)

    data = tf.data.TFRecordDataset(path).take(4).map(function)
    with pytest.raises(tf.errors.InvalidArgumentError) as single:
        list(data)
    with pytest.raises(tf.errors.InvalidArgumentError) as several:
        list(data.batch(2))
    assert str(several.value) == str(single.value)


def test_raw_arrays_when_their_lengths_differ_then_the_batch_says_so(path: str) -> None:
    data = tf.data.TFRecordDataset(path).map(
        lambda one: tf.io.decode_raw(tf.io.parse_single_example(one, KINDS)["raw"], tf.uint8)
    )
    with pytest.raises(tf.errors.InvalidArgumentError, match="Cannot batch tensors with different shapes"):
        list(data.batch(10))
