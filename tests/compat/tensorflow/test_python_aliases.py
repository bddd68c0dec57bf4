"""Aliases of ``tensorflow.python``, and the names added for TensorFlow 1's programs."""

from __future__ import annotations

import importlib
import logging
from pathlib import Path

import numpy as np
import pytest

import recordmill.compat.tensorflow as tf

PACKAGE = "recordmill.compat.tensorflow.python"


@pytest.mark.parametrize(
    "module, name, target",
    [
        ("platform.gfile", "Exists", tf.io.gfile.exists),
        ("platform.gfile", "FastGFile", tf.io.gfile.GFile),
        ("lib.io.file_io", "FileIO", tf.io.gfile.GFile),
        ("lib.io.tf_record", "TFRecordWriter", tf.io.TFRecordWriter),
        ("framework.dtypes", "float32", tf.float32),
        ("ops.array_ops", "reshape", tf.reshape),
        ("ops.math_ops", "maximum", tf.maximum),
        ("ops.parsing_ops", "FixedLenFeature", tf.io.FixedLenFeature),
    ],
)
def test_python_module_resolves_names_of_tf(module: str, name: str, target: object) -> None:
    imported = importlib.import_module(f"{PACKAGE}.{module}")
    assert getattr(imported, name) is target
    with pytest.raises(AttributeError, match="nothing_like_this"):
        _ = imported.nothing_like_this


def test_python_flags_are_those_of_absl() -> None:
    flags = pytest.importorskip("absl.flags")
    from recordmill.compat.tensorflow.python.platform import flags as alias

    assert alias.FLAGS is flags.FLAGS and alias.DEFINE_string is flags.DEFINE_string


def test_file_io_reads_and_writes_files(tmp_path: Path) -> None:
    from recordmill.compat.tensorflow.python.lib.io import file_io

    file_io.recursive_create_dir(tmp_path / "a" / "b")
    file_io.write_string_to_file(str(tmp_path / "a" / "x"), "text")
    assert file_io.read_file_to_string(str(tmp_path / "a" / "x")) == "text"
    assert file_io.read_file_to_string(tmp_path / "a" / "x", binary_mode=True) == b"text"
    assert file_io.get_matching_files(f"{tmp_path}/a/*") == [f"{tmp_path}/a/b", f"{tmp_path}/a/x"]


def test_log_every_n_logs_first_of_every_n_calls(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "tensorflow"):
        for number in range(7):
            tf.logging.log_every_n(tf.logging.INFO, "record %d", 3, number)
    assert [record.getMessage() for record in caplog.records] == ["record 0", "record 3", "record 6"]


@pytest.mark.parametrize(
    "values, dtype, expected",
    [
        (3, None, "08031200" + "3a0103"),
        ([1.0, 2.0], None, "0801120412020802" + "22080000803f00000040"),
        (["a", "bc"], None, "0807120412020802" + "420161" + "42026263"),
        ([True, False], None, "080a120412020802" + "5a020100"),
    ],
)
def test_make_tensor_proto_serializes_as_tensorflow_does(values: object, dtype: object, expected: str) -> None:
    proto = tf.make_tensor_proto(values, dtype)
    assert proto.SerializeToString().hex() == expected
    parsed = tf.io.parse_tensor(proto.SerializeToString(), tf.constant(values).dtype)
    np.testing.assert_array_equal(parsed.numpy(), tf.constant(values).numpy())


def test_make_tensor_proto_fills_shape_with_last_value() -> None:
    proto = tf.make_tensor_proto(7, tf.int64, shape=[2, 2])
    assert proto.int64_val == [7] and [dim.size for dim in proto.tensor_shape.dim] == [2, 2]
    assert tf.io.parse_tensor(proto.SerializeToString(), tf.int64).numpy().tolist() == [[7, 7], [7, 7]]
    with pytest.raises(TypeError):
        tf.make_tensor_proto([1, 2], shape=[3], verify_shape=True)


def test_bfloat16_needs_ml_dtypes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "ml_dtypes", None)
    monkeypatch.delattr(tf, "bfloat16", raising=False)
    with pytest.raises(AttributeError, match="pip install ml-dtypes"):
        _ = tf.bfloat16


def test_bfloat16_holds_and_converts_values() -> None:
    pytest.importorskip("ml_dtypes")
    tensor = tf.constant([1.5, 2.0], tf.bfloat16)
    assert tensor.dtype == tf.bfloat16 == tf.as_dtype("bfloat16") == tf.as_dtype(tensor.numpy().dtype)
    assert tf.bfloat16.is_floating and tf.bfloat16.size == 2 and float(tf.bfloat16.max) > 3e38
    assert tf.cast(tensor, tf.float32).numpy().tolist() == [1.5, 2.0]
    assert tf.cast([1.0], tf.bfloat16).dtype.name == "bfloat16"
    parsed = tf.io.parse_tensor(tf.io.serialize_tensor(tensor), tf.bfloat16)
    assert parsed.numpy().tolist() == [1.5, 2.0]


def test_logger_is_that_of_python() -> None:
    logger, before = logging.getLogger("tensorflow"), logging.getLogger("tensorflow").level
    try:
        tf.get_logger().setLevel("ERROR")
        assert logger.level == tf.compat.v1.logging.ERROR == tf.logging.get_verbosity()
        tf.compat.v1.logging.set_verbosity(tf.compat.v1.logging.INFO)
        assert logger.level == logging.INFO
    finally:
        logger.setLevel(before)
