"""Every name of the faces is there, and what programs set or ask around their operations."""

from __future__ import annotations

import importlib
import pickle

import numpy as np
import pytest

import recordmill.compat.tensorflow as tf
from recordmill.compat.tensorflow.core.dispatch import FAMILIES
from recordmill.compat.tensorflow.ops.names import TOP

FACES = ("bitwise", "debugging", "dtypes", "linalg", "math", "nn", "random", "strings")


@pytest.mark.parametrize("face", FACES)
def test_names_of_a_face_when_asked_for_then_are_there(face: str) -> None:
    module = getattr(tf, face)
    assert len(module.MEMBERS) >= 6
    for name in module.MEMBERS:
        assert getattr(module, name) is not None
        assert name in dir(module)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = module.nothing


def test_operations_under_tf_when_asked_for_then_are_there() -> None:
    assert len(TOP) > 120
    missing = [name for name in TOP if name != "newaxis" and getattr(tf, name) is None]
    assert missing == []
    assert tf.newaxis is None


def test_families_of_operations_when_imported_then_enter_operations_of_their_name() -> None:
    from recordmill.compat.tensorflow.core.dispatch import OPS

    for family, modules in FAMILIES.items():
        for module in modules:
            importlib.import_module(f"recordmill.compat.tensorflow.{module}")
        assert any(name.startswith(f"{family}.") for name in OPS), family


def test_surroundings_when_asked_about_then_are_those_of_a_machine_without_devices() -> None:
    assert tf.executing_eagerly() and tf.__version__ == tf.version.VERSION
    assert tf.config.list_physical_devices("GPU") == tf.config.experimental.list_physical_devices("GPU") == []
    assert [one.device_type for one in tf.config.list_physical_devices()] == ["CPU"]
    with tf.device("/CPU:0"), tf.name_scope("scope") as scope:
        assert scope == "scope"
    with pytest.raises(NotImplementedError, match="GPU:0"):
        tf.device("/GPU:0")
    assert tf.is_tensor(tf.range(2)) and not tf.is_tensor(np.arange(2)) and tf.is_tensor(tf.strings.split(["a"]))
    assert tf.get_static_value(tf.constant(3)) == 3 and tf.get_static_value(3) is None


def test_names_of_the_first_version_when_called_then_are_the_modern_operations() -> None:
    assert tf.to_float([1, 2]).dtype == tf.float32 and tf.to_int64([1.5]).numpy().tolist() == [1]
    assert tf.py_func(lambda x: x + 1, [tf.range(2)], tf.int32).numpy().tolist() == [1, 2]
    tf.set_random_seed(4)
    first = tf.random_uniform([3]).numpy().tolist()
    tf.random.set_seed(4)
    assert tf.random.uniform([3]).numpy().tolist() == first
    tf.random.set_seed(None)


def test_errors_of_operations_when_pickled_then_stay_what_they_are() -> None:
    with pytest.raises(ValueError, match="slice index 5 of dimension 0 out of bounds") as caught:
        _ = tf.range(3)[5]
    again = pickle.loads(pickle.dumps(caught.value))
    assert type(again) is tf.errors.InvalidArgumentError and str(again) == str(caught.value)


def test_tensors_when_shown_then_read_as_in_tensorflow() -> None:
    assert repr(tf.constant(3)) == "<tf.Tensor: shape=(), dtype=int32, numpy=3>"
    assert repr(tf.constant([[1, 2], [3, 4]])) == (
        "<tf.Tensor: shape=(2, 2), dtype=int32, numpy=\narray([[1, 2],\n       [3, 4]], dtype=int32)>"
    )
    assert str(tf.constant([[1, 2], [3, 4]])) == "tf.Tensor(\n[[1 2]\n [3 4]], shape=(2, 2), dtype=int32)"
    assert repr(tf.constant("a")) == "<tf.Tensor: shape=(), dtype=string, numpy=b'a'>"
    assert str(tf.constant([1, 2])) == "tf.Tensor([1 2], shape=(2,), dtype=int32)"
    assert f"{tf.constant(1.5):.2f}" == "1.50"


def test_constants_when_their_array_is_changed_then_stay_as_they_were() -> None:
    array = np.arange(3)
    tensor = tf.constant(array)
    array[0] = 9
    assert tensor.numpy().tolist() == [0, 1, 2]


def test_options_when_not_supported_then_are_refused_by_name() -> None:
    with pytest.raises(NotImplementedError, match="batch_dims"):
        tf.gather_nd([[1, 2]], [[0]], batch_dims=1)
    with pytest.raises(NotImplementedError, match="order 'nuclear'"):
        tf.norm([1.0], ord="nuclear")
    with pytest.raises(NotImplementedError, match="UTF-7"):
        tf.strings.unicode_split("a", "UTF-7")
    with pytest.raises(NotImplementedError, match="Unicode classes"):
        tf.strings.regex_replace("a", r"\pL", "")
    with pytest.raises(tf.errors.UnimplementedError, match="Cast string to int32 is not supported"):
        tf.cast("1", tf.int32)
