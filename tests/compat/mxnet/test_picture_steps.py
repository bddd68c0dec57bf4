"""Pictures that are turned, framed, scaled and drawn on have MXNet's values."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import recordmill.compat.mxnet as mx
from tests.compat.mxnet.detection_programs import made
from tests.compat.mxnet.picture_programs import CLOSE, PROGRAMS
from tests.golden import load

EXPECTED = load("compat/mxnet/steps/expected.json")
TRANSFORMS = mx.gluon.data.vision.transforms
FLOATS, BYTES = mx.nd.zeros((3, 4, 5)), mx.nd.zeros((3, 4, 5), dtype="uint8")


@pytest.mark.parametrize("name", [*PROGRAMS])
def test_programs_when_run_then_find_what_mxnet_gave(name: str, tmp_path: Path) -> None:
    found = json.loads(json.dumps(PROGRAMS[name](mx, str(tmp_path))))
    for case, values in EXPECTED[name].items():
        assert found[case] == values, case


@pytest.mark.parametrize("name", [*CLOSE])
def test_floats_when_scaled_then_differ_in_their_last_bits_at_most(name: str, tmp_path: Path) -> None:
    found = CLOSE[name](mx, str(tmp_path))
    for case, values in EXPECTED[name].items():
        np.testing.assert_allclose(found[case], values, rtol=0, atol=1e-4, err_msg=case)


@pytest.mark.parametrize(
    "wrong, kind, told",
    [
        (lambda: mx.image.imrotate(FLOATS, 3, True, True), ValueError, "cannot be both True"),
        (lambda: mx.image.imrotate(BYTES, 3), TypeError, "Only `float32`"),
        (lambda: mx.image.imrotate(FLOATS, mx.nd.array([1, 2])), TypeError, "required to be a scalar"),
        (lambda: mx.image.imrotate(FLOATS[0], 3), ValueError, "Only 3D and 4D"),
        (lambda: mx.image.imrotate(mx.nd.zeros((2, 3, 4, 5)), mx.nd.array([1])), ValueError, "number of rotation"),
        (lambda: TRANSFORMS.RandomRotation((3, 3)), ValueError, "ordered tuple"),
        (lambda: TRANSFORMS.RandomRotation((1, 3), rotate_with_proba=2), ValueError, "between 0 and 1"),
        (lambda: TRANSFORMS.Rotate(3)(BYTES), TypeError, "only supports float32"),
        (lambda: mx.image.imresize(mx.nd.zeros((4, 4, 3), dtype="int32"), 2, 2), NotImplementedError, "int32"),
        (lambda: mx.image.copyMakeBorder(BYTES, 1, 1, 1, 1, type=5), NotImplementedError, "type=5"),
    ],
)
def test_pictures_or_options_when_they_are_wrong_then_are_refused(wrong: Any, kind: Any, told: str) -> None:
    with pytest.raises(kind, match=told):
        wrong()


def test_window_or_names_when_drawing_then_are_refused(tmp_path: Path) -> None:
    for options in ({"waitKey": 0}, {"id2labels": {0: "cat"}}):
        with pytest.raises(NotImplementedError, match="shows no window"):
            next(made(mx, str(tmp_path)).draw_next(**options))


def test_values_beyond_when_drawing_without_clipping_then_are_bytes(tmp_path: Path) -> None:
    assert next(made(mx, str(tmp_path)).draw_next(mean=np.array([300.0]), clip=False)).dtype == np.uint8
