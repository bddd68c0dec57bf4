"""Programs of TensorFlow 1, with queues, iterators and sessions, find here what they find in TensorFlow."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import recordmill.compat.tensorflow.compat.v1 as tf
from recordmill.compat.tensorflow.graphs.modes import Mode
from tests.compat.tensorflow import graph_more_programs as programs
from tests.recorded import load_recording

RECORDED = "compat/tensorflow/graphs/expected.json"


@pytest.fixture(autouse=True)
def graphs() -> Iterator[None]:
    """As a program that disabled eager execution."""
    tf.disable_eager_execution()
    yield
    Mode.eager = None


@pytest.mark.parametrize("name", [*programs.PROGRAMS])
def test_programs_when_run_then_find_what_tensorflow_gave(name: str, tmp_path: Path) -> None:
    assert programs.plain(programs.PROGRAMS[name](tf, str(tmp_path))) == load_recording(RECORDED)[name]
