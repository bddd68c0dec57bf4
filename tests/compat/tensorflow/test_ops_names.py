"""Names resolve, and settings that programs make around their operations are accepted."""

from __future__ import annotations

import importlib
import pickle

import numpy as np
import pytest

import recordmill.compat.tensorflow as tf
from recordmill.compat.tensorflow.core.dispatch import FAMILIES

FACES = ("debugging", "dtypes", "linalg", "lookup", "math", "nn", "ragged", "random", "signal", "sparse", "strings")


@pytest.mark.parametrize("face", FACES)
def test_namespace_resolves_all_of_its_names(face: str) -> None:
    module = getattr(tf, face)
    for name in set(module.MEMBERS) - {"bfloat16"}:
        assert getattr(module, name) is not None
        assert name in dir(module)


def test_tensorflow_namespace_resolves_all_of_its_names() -> None:
    needs_extra = {"bfloat16", "flags"}
    missing = [name for name in tf.MEMBERS if name not in needs_extra and getattr(tf, name) is None]
    assert missing == []
    assert tf.newaxis is None


def test_operation_families_define_operations_of_their_name() -> None:
    from recordmill.compat.tensorflow.core.dispatch import OPS

    for family, modules in FAMILIES.items():
        for module in modules:
            importlib.import_module(f"recordmill.compat.tensorflow.{module}")
        assert any(name.startswith(f"{family}.") for name in OPS), family


def test_settings_report_machine_without_gpu() -> None:
    assert tf.executing_eagerly() and tf.__version__.startswith("2.")
    assert tf.config.list_physical_devices("GPU") == tf.config.experimental.list_physical_devices("GPU") == []
    assert [one.device_type for one in tf.config.list_physical_devices()] == ["CPU"]
    with tf.device("/CPU:0"), tf.name_scope("scope") as scope:
        assert scope == "scope"
    with pytest.raises(NotImplementedError, match="GPU:0"):
        tf.device("/GPU:0")
    assert tf.is_tensor(tf.range(2)) and not tf.is_tensor(np.arange(2)) and tf.is_tensor(tf.strings.split(["a"]))
    assert tf.get_static_value(tf.constant(3)) == 3 and tf.get_static_value(3) is None


def test_tensorflow_1_names_call_modern_operations() -> None:
    assert tf.to_float([1, 2]).dtype == tf.float32 and tf.to_int64([1.5]).numpy().tolist() == [1]
    assert tf.py_func(lambda x: x + 1, [tf.range(2)], tf.int32).numpy().tolist() == [1, 2]
    tf.set_random_seed(4)
    first = tf.random_uniform([3]).numpy().tolist()
    tf.random.set_seed(4)
    assert tf.random.uniform([3]).numpy().tolist() == first
    tf.random.set_seed(None)


def test_operation_error_survives_pickling() -> None:
    with pytest.raises(ValueError, match="slice index out of bounds") as caught:
        _ = tf.range(3)[5]
    again = pickle.loads(pickle.dumps(caught.value))
    assert type(again) is tf.errors.InvalidArgumentError and str(again) == str(caught.value)


def test_tensor_prints_as_in_tensorflow() -> None:
    assert repr(tf.constant(3)) == "<tf.Tensor: shape=(), dtype=int32, numpy=3>"
    assert repr(tf.constant([[1, 2], [3, 4]])) == (
        "<tf.Tensor: shape=(2, 2), dtype=int32, numpy=\narray([[1, 2],\n       [3, 4]], dtype=int32)>"
    )
    assert str(tf.constant([[1, 2], [3, 4]])) == "tf.Tensor(\n[[1 2]\n [3 4]], shape=(2, 2), dtype=int32)"
    assert repr(tf.constant("a")) == "<tf.Tensor: shape=(), dtype=string, numpy=b'a'>"
    assert str(tf.constant([1, 2])) == "tf.Tensor([1 2], shape=(2,), dtype=int32)"
    assert f"{tf.constant(1.5):.2f}" == "1.50"


def test_constant_does_not_follow_changes_of_its_array() -> None:
    array = np.arange(3)
    tensor = tf.constant(array)
    array[0] = 9
    assert tensor.numpy().tolist() == [0, 1, 2]


def test_errors_accept_arguments_of_tensorflow() -> None:
    for one in (
        tf.errors.NotFoundError(None, None, "why"),
        tf.errors.NotFoundError(node_def=None, op=None, message="why"),
    ):
        assert one.message == str(one) == str(pickle.loads(pickle.dumps(one))) == "why"
        assert one.error_code == tf.errors.NOT_FOUND == 5 and one.op is one.node_def is None
