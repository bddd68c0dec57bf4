"""tf.data: elements, order, specs, cardinalities and errors equal those recorded from TensorFlow."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import recordmill.compat.tensorflow as tf
from tests.compat.tensorflow import data_programs as programs
from tests.recorded import load_recording

RECORDED = "compat/tensorflow/data/expected.json"


@pytest.mark.parametrize("name", [name for name in programs.PROGRAMS if name != "errors"])
def test_pipelines_equal_those_recorded_from_tensorflow(name: str, tmp_path: Path) -> None:
    assert programs.plain(programs.PROGRAMS[name](tf, str(tmp_path))) == load_recording(RECORDED)[name]


@pytest.mark.parametrize("name", list(load_recording(RECORDED)["errors"]))
def test_errors_have_the_classes_recorded_from_tensorflow(name: str, recorded_errors: dict[str, Any]) -> None:
    kind, _ = load_recording(RECORDED)["errors"][name]
    assert kind in [one.__name__ for one in recorded_errors[name][2].__mro__]


@pytest.fixture(scope="module")
def recorded_errors() -> dict[str, Any]:
    return programs.errors(tf, "")
