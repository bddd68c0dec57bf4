"""``tf.keras`` without Keras: imports, the choice of the backend, and batches for models."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

import recordmill.compat.tensorflow as tf
from recordmill.compat.tensorflow.keras import load
from recordmill.compat.tensorflow.keras.training import DatasetAdapter, element_to_arrays

IMPORTS = "import sys, recordmill.compat.tensorflow as tf\nimport recordmill.compat.tensorflow.keras\n"


class Numbers:
    """The part of a dataset's interface that an adapter uses."""

    def __init__(self, cardinality: int) -> None:
        self.num_elements = cardinality

    def cardinality(self) -> np.int64:
        return np.int64(self.num_elements)

    def __iter__(self):
        for number in range(3):
            yield tf.constant([[number]], tf.float32), tf.constant([number])


def test_import_of_keras_imports_no_framework() -> None:
    code = IMPORTS + "print(*{'keras', 'jax', 'torch', 'tensorflow'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.split() == []


def test_load_keras_names_extra_if_keras_is_missing(monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "keras", None)
    with pytest.raises(ImportError, match=r"tf.keras needs the package keras\n.*recordmill\[keras\]"):
        load.load_keras.__wrapped__()


@pytest.mark.parametrize("wanted, expected", [("torch", "torch"), ("tensorflow", "numpy"), ("", "numpy")])
def test_choose_backend_never_returns_tensorflow(monkeypatch, wanted, expected) -> None:
    monkeypatch.setenv("KERAS_BACKEND", wanted)
    monkeypatch.setattr(load.importlib.util, "find_spec", lambda name: name == "numpy" or None)
    assert load.choose_backend() == expected


def test_to_batch_returns_arrays_without_copies() -> None:
    image, label = np.zeros((2, 4, 4, 3), np.uint8), np.array([1, 2])
    found = element_to_arrays(({"image": tf.Tensor(image), "size": [label]}, tf.Tensor(label), None))
    assert found[0]["image"] is image and found[0]["size"][0] is label and found[1] is label and found[2] is None


@pytest.mark.parametrize(
    "element, message",
    [
        (tf.constant([b"a", b"b"]), "does not accept strings"),
        (tf.constant(3), "got a scalar"),
        (object(), "got a object"),
    ],
)
def test_to_batch_rejects_element_that_no_model_takes(element, message) -> None:
    with pytest.raises(ValueError, match=message):
        element_to_arrays((element,))


def test_adapter_iterates_anew_each_time() -> None:
    adapter = DatasetAdapter(Numbers(3))
    assert adapter.num_batches == 3 and adapter.batch_size is None
    for _ in range(2):
        assert [y.tolist() for _, y in adapter.get_jax_iterator()] == [[0], [1], [2]]


def test_adapter_of_infinite_dataset_requires_steps() -> None:
    with pytest.raises(ValueError, match="the dataset is infinite"):
        DatasetAdapter(Numbers(-1))
    assert DatasetAdapter(Numbers(-1), 4).num_batches is None
    assert DatasetAdapter(Numbers(-2)).num_batches is None
