"""Programs in the shapes of public ones find here what they found in TensorFlow: words, tables, sounds, saved data."""

from __future__ import annotations

from pathlib import Path

import pytest

import recordmill.compat.tensorflow as tf
from tests.compat.tensorflow import wider_more_programs as programs
from tests.compat.tensorflow.data_programs import plain
from tests.recorded import load_recording

RECORDED = "compat/tensorflow/wider/expected.json"
TRAINS = "several_inputs"
# It calls tf.cond, so that its element_spec is that of the first elements, which is more specific than TensorFlow\'s.
SHOWN_SPECS = "segmentation"


@pytest.mark.parametrize("name", [name for name in programs.PROGRAMS if name not in (TRAINS, SHOWN_SPECS)])
def test_programs_when_run_then_find_what_tensorflow_gave(name: str, tmp_path: Path) -> None:
    assert plain(programs.PROGRAMS[name](tf, str(tmp_path))) == load_recording(RECORDED)[name]


@pytest.mark.deep
def test_model_of_several_inputs_when_trained_then_is_measured_as_in_tensorflow(tmp_path: Path) -> None:
    assert plain(programs.PROGRAMS[TRAINS](tf, str(tmp_path))) == load_recording(RECORDED)[TRAINS]
