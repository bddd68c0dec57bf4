"""What Keras is given of a batch."""

from __future__ import annotations

import numpy as np
import pytest

import recordmill as rm
from recordmill.adapters.keras.selection import Selection

BATCH = {
    "image": np.ones((2, 4, 4, 1), np.float32),
    "depth": np.zeros((2, 4), np.uint16),
    "label": np.array([3, 4]),
    "valid": np.array([True, False]),
    "words": rm.Ragged(np.arange(3), np.array([0, 1, 3])),
    "names": np.array(["a", "b"]),
}


def test_names_when_given_then_choose_features_without_a_copy() -> None:
    x, y = Selection("image", "label")(BATCH)
    assert x is BATCH["image"] and y is BATCH["label"]


def test_several_inputs_when_named_then_keep_their_form() -> None:
    (x,) = Selection(["image", "depth"])(BATCH)
    assert isinstance(x, tuple) and x[0] is BATCH["image"] and x[1] is BATCH["depth"]
    x, y = Selection({"left": "image"}, {"kind": "label", "more": "depth"})(BATCH)
    assert set(x) == {"left"} and y["more"] is BATCH["depth"]


def test_validity_when_taken_as_weight_then_is_a_number_per_sample() -> None:
    _, _, weight = Selection("image", "label", "valid")(BATCH)
    assert weight.dtype == np.float32 and weight.tolist() == [1.0, 0.0]


def test_function_when_given_then_makes_the_tuple() -> None:
    x, y = Selection(lambda batch: [batch["image"] * 2, batch["label"]])(BATCH)
    assert (x == 2).all() and y is BATCH["label"]


@pytest.mark.parametrize("name, found", [("words", "Ragged"), ("names", "ndarray of <U1"), ("missing", "image, depth")])
def test_feature_when_missing_or_no_array_of_numbers_then_is_named(name: str, found: str) -> None:
    with pytest.raises(rm.FeatureError, match=repr(name)) as caught:
        Selection("image", name)(BATCH)
    assert found in str(caught.value.found)


@pytest.mark.parametrize("chosen", [(len, "label", None), (len, None, "valid"), ("image", None, "valid")])
def test_parts_when_they_contradict_then_are_refused(chosen) -> None:
    with pytest.raises(TypeError):
        Selection(*chosen)
