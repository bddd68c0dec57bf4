"""Helpers of the programs that run with TensorFlow and with recordmill: features, files and plain values."""

from __future__ import annotations

import numpy as np


def to_plain(value):
    """Convert values to types of JSON."""
    if isinstance(value, dict):
        return {key: to_plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [to_plain(one) for one in value]
    if isinstance(value, bytes):
        return value.decode()
    if isinstance(value, np.ndarray | np.generic):
        return to_plain(value.tolist())
    return value


def list_elements(dataset):
    """Return the elements of a finite dataset as types of JSON."""
    return to_plain(list(dataset.as_numpy_iterator()))


def describe_spec(spec):
    """Return the dtype and shape of each tensor of a spec."""
    if isinstance(spec, dict):
        return {key: describe_spec(one) for key, one in spec.items()}
    if isinstance(spec, tuple):
        return [describe_spec(one) for one in spec]
    return [spec.dtype.name, None if spec.shape.rank is None else spec.shape.as_list()]


def describe_error(run):
    """Return the class of the error that a function raises, and its message without the parts that eager mode adds."""
    try:
        run()
    except Exception as error:  # noqa: BLE001 (any error is recorded)
        text = str(error).split("device:CPU:0}} ")[-1].split("\n")[0].split(" [Op:")[0]
        return [type(error).__name__, text.strip()]
    return None


def bytes_feature(tf, value):
    if isinstance(value, type(tf.constant(0))):
        value = value.numpy()
    return tf.train.Feature(bytes_list=tf.train.BytesList(value=[value]))


def int64_feature(tf, *values):
    return tf.train.Feature(int64_list=tf.train.Int64List(value=values))


def float_feature(tf, *values):
    return tf.train.Feature(float_list=tf.train.FloatList(value=values))


def write_examples(tf, path, rows, options=None):
    with tf.io.TFRecordWriter(path, options=options) as writer:
        for row in rows:
            writer.write(tf.train.Example(features=tf.train.Features(feature=row)).SerializeToString())
    return path
