"""Selection of inputs, targets and weights for Keras."""

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


def test_selection_returns_features_without_copy() -> None:
    x, y = Selection("image", "label")(BATCH)
    assert x is BATCH["image"] and y is BATCH["label"]


def test_selection_keeps_form_of_names() -> None:
    (x,) = Selection(["image", "depth"])(BATCH)
    assert isinstance(x, tuple) and x[0] is BATCH["image"] and x[1] is BATCH["depth"]
    x, y = Selection({"left": "image"}, {"kind": "label", "more": "depth"})(BATCH)
    assert set(x) == {"left"} and y["more"] is BATCH["depth"]


def test_selection_converts_weights_to_float32() -> None:
    _, _, weight = Selection("image", "label", "valid")(BATCH)
    assert weight.dtype == np.float32 and weight.tolist() == [1.0, 0.0]


def test_selection_function_returns_whole_tuple() -> None:
    x, y = Selection(lambda batch: [batch["image"] * 2, batch["label"]])(BATCH)
    assert (x == 2).all() and y is BATCH["label"]


@pytest.mark.parametrize("name, found", [("words", "Ragged"), ("names", "ndarray of <U1"), ("missing", "image, depth")])
def test_selection_error_names_missing_or_non_numeric_feature(name: str, found: str) -> None:
    with pytest.raises(rm.FeatureError, match=repr(name)) as caught:
        Selection("image", name)(BATCH)
    assert found in str(caught.value.found)


@pytest.mark.parametrize("chosen", [(len, "label", None), (len, None, "valid"), ("image", None, "valid")])
def test_selection_refuses_contradictory_parameters(chosen) -> None:
    with pytest.raises(TypeError):
        Selection(*chosen)
