"""Programs that people own find here what they found in TensorFlow."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import recordmill.compat.tensorflow as tf
from tests.compat.tensorflow import owned_programs as programs
from tests.recorded import load_recording

RECORDED = "compat/tensorflow/owned/expected.json"


@pytest.mark.parametrize("name", [*programs.PROGRAMS])
def test_programs_when_run_then_find_what_tensorflow_gave(name: str, tmp_path: Path) -> None:
    found = programs.plain(programs.PROGRAMS[name](tf, str(tmp_path)))
    assert drop_error_texts(found) == drop_error_texts(load_recording(RECORDED)[name])


def drop_error_texts(value: Any) -> Any:
    """Replace each pair of an error's class and text by the class."""
    if isinstance(value, dict):
        return {key: drop_error_texts(item) for key, item in value.items()}
    if not isinstance(value, list):
        return value
    if len(value) == 2 and isinstance(value[0], str) and value[0].endswith("Error"):
        return value[:1]
    return [drop_error_texts(item) for item in value]
