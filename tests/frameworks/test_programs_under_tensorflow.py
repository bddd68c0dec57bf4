"""The same program under the real TensorFlow and under ours, by another import line."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.frameworks.runner import find_interpreter, replace_imports, run_program

# Programs, and the lines that they print at least.
PROGRAMS = {"program_for_tensorflow.py": 13}
LINES = {"import tensorflow as tf": "import recordmill.compat.tensorflow as tf"}

pytestmark = [pytest.mark.deep, pytest.mark.timeout(1800)]


@pytest.mark.parametrize("name", PROGRAMS)
def test_program_prints_the_same_with_changed_import(name: str, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    source = (Path(__file__).parent / name).read_text("utf-8")
    expected = run_program(find_interpreter("tensorflow"), source, tmp_path / "tensorflow")
    assert len(expected) >= PROGRAMS[name]
    assert run_program(sys.executable, replace_imports(source, LINES), tmp_path / "ours") == expected
