"""What tf.keras does before Keras is there: batches, names, and the error where it is missing."""

from __future__ import annotations

import importlib
import subprocess
import sys

import numpy as np
import pytest

import recordmill.compat.tensorflow as tf
from recordmill.compat.tensorflow.keras import loading
from recordmill.compat.tensorflow.keras.batches import plain_batch, weighted
from recordmill.compat.tensorflow.keras.feeding import DatasetAdapter
from recordmill.compat.tensorflow.keras.operations_table import OTHERS, SAME

IMPORTS = "import sys, recordmill.compat.tensorflow as tf\nimport recordmill.compat.tensorflow.keras\n"


class Numbers:
    """As much of a data set as an adapter needs."""

    def __init__(self, cardinality: int) -> None:
        self.num_elements = cardinality

    def cardinality(self) -> np.int64:
        return np.int64(self.num_elements)

    def __iter__(self):
        for number in range(3):
            yield tf.constant([[number]], tf.float32), tf.constant([number])


def test_keras_when_only_imported_then_no_framework_is() -> None:
    code = IMPORTS + "print(*{'keras', 'jax', 'torch', 'tensorflow'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.split() == []


def test_keras_when_missing_then_names_the_extra(monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "keras", None)
    monkeypatch.setattr(loading, "keras", loading.keras.__wrapped__)
    with pytest.raises(ImportError, match=r"tf.keras needs the package keras\n.*recordmill\[keras\]"):
        loading.keras()


@pytest.mark.parametrize("asked, expected", [("torch", "torch"), ("tensorflow", "numpy"), ("", "numpy")])
def test_backend_when_chosen_then_is_never_tensorflow(monkeypatch, asked, expected) -> None:
    monkeypatch.setenv("KERAS_BACKEND", asked)
    monkeypatch.setattr(loading, "find_spec", lambda name: name == "numpy" or None)
    assert loading.chosen_backend() == expected


def test_batch_when_made_plain_then_has_the_arrays_themselves() -> None:
    image, label = np.zeros((2, 4, 4, 3), np.uint8), np.array([1, 2])
    found = plain_batch(({"image": tf.Tensor(image), "size": [label]}, tf.Tensor(label), None))
    assert found[0]["image"] is image and found[0]["size"][0] is label and found[1] is label and found[2] is None


@pytest.mark.parametrize(
    "element, message",
    [
        (tf.constant([b"a", b"b"]), "a model takes numbers; the data set gives strings"),
        (tf.constant(3), "a model takes batches; the data set gives single values"),
        (object(), "a model takes tensors; the data set gives a object"),
    ],
)
def test_batch_when_no_model_takes_it_then_is_refused(element, message) -> None:
    with pytest.raises(ValueError, match=message):
        plain_batch((element,))


def test_classes_when_weighted_then_every_sample_has_its_weight() -> None:
    x = np.zeros((3, 1))
    for y in (np.array([0, 2, 1]), np.array([[0.0], [2.0], [1.0]]), np.eye(3)[[0, 2, 1]]):
        found = weighted((x, y), {0: 0.5, 2: 4.0})
        assert found[2].tolist() == [0.5, 4.0, 1.0] and found[2].dtype == np.float32
    for wrong, message in (
        (x, "needs targets"),
        ((x, y, x), "at the same time"),
        ((x, {"a": y}), "single output"),
    ):
        with pytest.raises(ValueError, match=message):
            weighted(wrong, {0: 1.0})


def test_adapter_when_iterated_twice_then_begins_anew() -> None:
    adapter = DatasetAdapter(Numbers(3))
    assert adapter.num_batches == 3 and adapter.batch_size is None
    for _ in range(2):
        assert [y.tolist() for _, y in adapter.get_jax_iterator()] == [[0], [1], [2]]
    assert [w.tolist() for _, _, w in DatasetAdapter(Numbers(3), None, {1: 7.0}).get_numpy_iterator()] == [
        [1],
        [7],
        [1],
    ]


def test_adapter_when_there_is_no_end_then_wants_steps() -> None:
    with pytest.raises(ValueError, match="When providing an infinite dataset, you must specify the number of steps"):
        DatasetAdapter(Numbers(-1))
    assert DatasetAdapter(Numbers(-1), 4).num_batches is None
    assert DatasetAdapter(Numbers(-2)).num_batches is None


def test_operations_when_mapped_to_keras_then_exist_here() -> None:
    for module in ("arithmetic", "casting", "comparing", "joining", "making", "matrices", "reducing", "shaping"):
        importlib.import_module(f"recordmill.compat.tensorflow.ops.{module}")
    from recordmill.compat.tensorflow.core.dispatch import OPS

    families = {name.partition(".")[0] for name in OPS}
    assert {name.partition(".")[0] for name in OTHERS} <= families
    assert {"math.reduce_mean", "array.cast", "math.equal", "array.reshape"} <= set(OPS) & (set(SAME) | set(OTHERS))
