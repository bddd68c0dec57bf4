"""A name that the package does not have raises an error that names a replacement."""

from __future__ import annotations

import functools
from typing import Any

import pytest

import recordmill.compat.tensorflow as tf
from recordmill.compat.tensorflow.core.absent import HINTS


def get_module(path: str) -> Any:
    return functools.reduce(getattr, filter(None, path.split(".")), tf)


@pytest.mark.parametrize(
    "module, name, hint",
    [
        ("", "GradientTape", "train with Keras"),
        ("", "feature_column", "preprocessing layers"),
        ("", "quantize", "keras.ops"),
        ("compat.v1", "get_variable", "train with Keras"),
        ("compat.v1", "GradientTape", "train with Keras"),
        ("contrib", "slim", "tf.data.TFRecordDataset"),
        ("config", "get_memory_info", "remove the setting"),
        ("data.experimental", "SqlDataset", "sqlite3"),
        ("linalg", "svd", "NumPy"),
        ("nest", "list_to_tuple", "tf.nest.flatten"),
        ("random", "Generator", "numpy.random"),
        ("random.experimental", "Algorithm", "numpy.random"),
        ("signal", "dct", "SciPy"),
        ("strings", "ngrams", "Python's functions"),
        ("train", "Checkpoint", "ModelCheckpoint"),
    ],
)
def test_absent_name_raises_error_with_hint(module: str, name: str, hint: str) -> None:
    owner = get_module(module)
    with pytest.raises(AttributeError, match="has no attribute") as caught:
        getattr(owner, name)
    assert hint in str(caught.value) and "migration page" in str(caught.value)
    # Python uses these to suggest similar names.
    assert caught.value.name == name and caught.value.obj is owner


def test_hints_are_short_sentences() -> None:
    assert all(hint and not hint.endswith(".") and len(hint) < 100 for hint in HINTS.values())


@pytest.mark.parametrize(
    "name",
    ["sparse_batch", "save", "load", "scan", "snapshot", "rejection_resample", "rebatch", "take_while", "unique"],
)
def test_dataset_names_replacements_of_removed_methods(name: str) -> None:
    for owner in (tf.data.Dataset, tf.data.Dataset.range(2)):
        with pytest.raises(AttributeError, match=rf"Dataset\.{name} is not supported: (use|write) "):
            getattr(owner, name)
        assert not hasattr(owner, name)
