"""Layers that hold strings, as pipelines use them; and layers of Keras that measure data sets."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import recordmill.compat.tensorflow as tf

TEXTS = ["The cat sat.", "the dog; the CAT ran!", "A  bird", ""]
D = tf.data.Dataset


def vectorized(**options: Any) -> Any:
    layer = tf.keras.layers.TextVectorization(**options)
    layer.adapt(D.from_tensor_slices(TEXTS).batch(2))
    return layer


def listed(found: Any) -> Any:
    return found.to_list() if hasattr(found, "to_list") else found.numpy().tolist()


@pytest.mark.parametrize(
    "options, rows",
    [
        ({"max_tokens": 5}, [[2, 3, 4, 0, 0], [2, 1, 2, 3, 1], [1, 1, 0, 0, 0], [0, 0, 0, 0, 0]]),
        ({"output_sequence_length": 2}, [[2, 3], [2, 6], [8, 7], [0, 0]]),
        ({"standardize": None}, [[8, 6, 3, 0, 0], [2, 5, 2, 9, 4], [10, 7, 0, 0, 0], [0, 0, 0, 0, 0]]),
        ({"ragged": True}, [[2, 3, 4], [2, 6, 2, 3, 5], [8, 7], []]),
        ({"output_mode": "multi_hot", "max_tokens": 4}, [[0, 1, 1, 1], [1, 1, 1, 0], [1, 0, 0, 0], [0, 0, 0, 0]]),
        ({"output_mode": "count", "max_tokens": 3}, [[1, 1, 1], [2, 2, 1], [2, 0, 0], [0, 0, 0]]),
    ],
    ids=str,
)
def test_texts_when_vectorized_then_are_the_numbers_of_tensorflow(options: dict[str, Any], rows: Any) -> None:
    assert listed(vectorized(**options)(tf.constant(TEXTS))) == rows


def test_text_without_words_when_encoded_then_has_none() -> None:
    assert listed(vectorized(output_mode="multi_hot", max_tokens=3)("")) == [0, 0, 0]


def test_texts_when_weighted_by_rarity_then_have_the_weights_of_tensorflow() -> None:
    found = vectorized(output_mode="tf_idf")(tf.constant(TEXTS[:1])).numpy()
    assert np.allclose(found, [[0, 0.8472979, 0.8472979, 1.0986123, 0, 0, 0, 0]], atol=1e-6)


def test_vocabulary_when_in_a_file_then_is_read_line_by_line(tmp_path: Path) -> None:
    (tmp_path / "words.txt").write_text("cat\ndog\n")
    layer = tf.keras.layers.TextVectorization(vocabulary=str(tmp_path / "words.txt"))
    assert layer.get_vocabulary() == ["", "[UNK]", "cat", "dog"] and listed(layer("dog cat")) == [3, 2]
    layer.set_vocabulary(["", "[UNK]", "bird"])
    assert layer.get_vocabulary(include_special_tokens=False) == ["bird"] and layer.vocabulary_size() == 3


@pytest.mark.parametrize(
    "options, found",
    [
        ({}, [[1, 0], [2, 0]]),
        ({"num_oov_indices": 3}, [[3, 1], [4, 1]]),
        ({"mask_token": "z"}, [[2, 0], [3, 1]]),
        ({"output_mode": "one_hot"}, [[[0, 1, 0], [1, 0, 0]], [[0, 0, 1], [1, 0, 0]]]),
        ({"output_mode": "multi_hot"}, [[1, 1, 0], [1, 0, 1]]),
        ({"output_mode": "count", "mask_token": "z"}, [[0, 1, 0], [1, 0, 1]]),
    ],
    ids=str,
)
def test_words_when_looked_up_then_have_the_places_of_tensorflow(options: dict[str, Any], found: Any) -> None:
    layer = tf.keras.layers.StringLookup(vocabulary=["a", "b"], **options)
    assert listed(layer(tf.constant([["a", "z"], ["b", "c"]]))) == found


def test_numbers_when_looked_up_then_have_the_places_of_tensorflow() -> None:
    layer = tf.keras.layers.IntegerLookup(mask_token=0)
    layer.adapt(np.array([[5, 7], [7, 9]]))
    assert layer.get_vocabulary() == [0, -1, 7, 9, 5] and listed(layer([[5, 0, 100]])) == [[4, 0, 1]]
    back = tf.keras.layers.IntegerLookup(vocabulary=[5, 7], invert=True)
    assert listed(back([0, 1, 2])) == [-1, 5, 7]


@pytest.mark.parametrize(
    "options, found",
    [
        ({}, [[0], [1], [1]]),
        ({"mask_value": "a"}, [[0], [1], [1]]),
        ({"salt": [1, 2]}, [[2], [1], [2]]),
        ({"salt": 133}, [[0], [2], [2]]),
        ({"output_mode": "one_hot"}, [[1, 0, 0], [0, 1, 0], [0, 1, 0]]),
    ],
    ids=str,
)
def test_words_when_hashed_then_have_the_numbers_of_tensorflow(options: dict[str, Any], found: Any) -> None:
    assert listed(tf.keras.layers.Hashing(num_bins=3, **options)(tf.constant([["a"], ["b"], ["c"]]))) == found


def test_layers_when_asked_for_what_is_not_there_then_refuse_it_by_name() -> None:
    layers = tf.keras.layers
    with pytest.raises(tf.errors.FailedPreconditionError, match="no vocabulary yet"):
        layers.StringLookup()(tf.constant(["a"]))
    with pytest.raises(NotImplementedError, match="sparse=True"):
        layers.StringLookup(sparse=True)
    with pytest.raises(ValueError, match="repeated term"):
        layers.StringLookup(vocabulary=["a", "a"])
    with pytest.raises(ValueError, match="max_tokens is 2"):
        layers.StringLookup(max_tokens=2, vocabulary=["a", "b"])
    with pytest.raises(ValueError, match="Invalid value for `split`"):
        layers.TextVectorization(split="words")
    with pytest.raises(tf.errors.InvalidArgumentError, match="num_oov_indices=0"):
        layers.StringLookup(vocabulary=["a"], num_oov_indices=0)(tf.constant(["q"]))
    with pytest.raises(ValueError, match="num_bins"):
        layers.Hashing(num_bins=0)


@pytest.mark.deep
def test_layers_when_they_measure_a_data_set_then_find_what_tensorflow_does() -> None:
    data = D.from_tensor_slices(np.arange(12, dtype=np.float32).reshape(6, 2)).batch(2)
    norm, bins = tf.keras.layers.Normalization(), tf.keras.layers.Discretization(num_bins=3)
    norm.adapt(data)
    bins.adapt(data)
    assert np.allclose(norm.mean, [[5, 6]]) and np.allclose(norm.variance, [[11.666667, 11.666667]])
    assert np.allclose(bins.bin_boundaries, [3, 7])
    assert np.allclose(next(iter(data.map(norm))), [[-1.46385, -1.46385], [-0.87831, -0.87831]], atol=1e-4)
