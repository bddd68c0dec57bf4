"""Keras's data sets of folders under the real TensorFlow and under ours, by another import line."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import recordmill.compat.tensorflow as tf
from tests.frameworks.swapping import interpreter_of, run, swapped

PROGRAM = Path(__file__).parent / "program_for_keras_folders.py"
LINES = {"import tensorflow as tf": "import recordmill.compat.tensorflow as tf"}

pytestmark = [pytest.mark.deep, pytest.mark.timeout(1800)]


def test_folders_when_made_data_sets_then_are_those_of_keras_on_tensorflow(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    source = PROGRAM.read_text("utf-8")
    expected = run(interpreter_of("tensorflow"), source, tmp_path / "tensorflow")
    assert len(expected) > 80
    assert run(sys.executable, swapped(source, LINES), tmp_path / "ours") == expected


def test_folders_when_an_option_is_not_there_then_it_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(NotImplementedError, match="crop_to_aspect_ratio"):
        tf.keras.utils.image_dataset_from_directory(tmp_path, crop_to_aspect_ratio=True)
