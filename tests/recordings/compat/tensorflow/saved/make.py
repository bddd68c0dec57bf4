"""Saves data sets with TensorFlow 2.21.0: python make.py in the tensorflow of environments.py."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

os.environ |= {"CUDA_VISIBLE_DEVICES": "", "TF_CPP_MIN_LOG_LEVEL": "3"}

import tensorflow as tf

HERE = Path(__file__).resolve().parent


def mixed(number):
    """Numbers, rows of numbers and two texts."""
    row = tf.repeat(tf.cast(number, tf.float32) / 2, number)
    long = tf.strings.reduce_join(tf.repeat("x", number * 100))
    return {"a": number, "b": (row, tf.stack([tf.strings.as_string(number), long]))}


def main() -> None:
    """Save them, in the places of those that are there."""
    ragged = tf.data.Dataset.from_tensors(tf.ragged.constant([[1], [2, 3]]))
    data = {"mixed": tf.data.Dataset.range(3).map(mixed), "ragged": ragged}
    for name, one in data.items():
        shutil.rmtree(HERE / name, ignore_errors=True)
        one.save(str(HERE / name))
    shutil.rmtree(HERE / "packed", ignore_errors=True)
    tf.data.Dataset.range(4).save(str(HERE / "packed"), compression="GZIP")


if __name__ == "__main__":
    main()
