"""tf.data: elements, order, specs, cardinalities and errors are those that TensorFlow was seen to give."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import recordmill.compat.tensorflow as tf
from tests.compat.tensorflow import data_programs as programs
from tests.golden import load

RECORDED = "compat/tensorflow/data/expected.json"


@pytest.mark.parametrize("name", [name for name in programs.PROGRAMS if name != "errors"])
def test_pipelines_when_run_then_give_what_tensorflow_gave(name: str, tmp_path: Path) -> None:
    assert programs.plain(programs.PROGRAMS[name](tf, str(tmp_path))) == load(RECORDED)[name]


# What ours tells otherwise: the same class, other words.
OTHER_WORDS = {"generator raises"}


@pytest.mark.parametrize("name", list(load(RECORDED)["errors"]))
def test_errors_when_raised_then_are_tensorflows(name: str, recorded_errors: dict[str, Any]) -> None:
    kind, text = load(RECORDED)["errors"][name]
    _, words, ours = recorded_errors[name]
    assert kind in [one.__name__ for one in ours.__mro__]
    assert name in OTHER_WORDS or text.rstrip(".") in words


@pytest.fixture(scope="module")
def recorded_errors() -> dict[str, Any]:
    return programs.errors(tf, "")
