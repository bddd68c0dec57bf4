"""Programs in the shapes of public ones find here what they find in TensorFlow."""

from __future__ import annotations

from pathlib import Path

import pytest

import recordmill.compat.tensorflow as tf
from tests.compat.tensorflow import public_more_programs as programs
from tests.compat.tensorflow.data_programs import plain
from tests.recorded import load_recording

RECORDED = "compat/tensorflow/public/expected.json"


@pytest.mark.parametrize("name", [*programs.PROGRAMS])
def test_programs_when_run_then_find_what_tensorflow_gave(name: str, tmp_path: Path) -> None:
    assert plain(programs.PROGRAMS[name](tf, str(tmp_path))) == load_recording(RECORDED)[name]


def test_data_sets_when_printed_without_their_files_then_show_what_they_are() -> None:
    data = tf.data.TFRecordDataset("nowhere").map(lambda record: tf.py_function(len, [record], tf.int64))
    assert repr(data) == "<_MapDataset>" and "TFRecordDatasetV2 element_spec=" in repr(
        tf.data.TFRecordDataset("nowhere")
    )
