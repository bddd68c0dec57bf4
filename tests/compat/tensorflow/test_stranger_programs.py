"""Programs of strangers find here what they found in TensorFlow."""

from __future__ import annotations

from pathlib import Path

import pytest

import recordmill.compat.tensorflow as tf
from tests.compat.tensorflow import stranger_programs as programs
from tests.recorded import load_recording

RECORDED = "compat/tensorflow/strangers/expected.json"


@pytest.mark.parametrize("name", [*programs.PROGRAMS])
def test_programs_when_run_then_find_what_tensorflow_gave(name: str, tmp_path: Path) -> None:
    assert programs.plain(programs.PROGRAMS[name](tf, str(tmp_path))) == load_recording(RECORDED)[name]
