"""JPEG files that are cut, other ones than the recordings': TensorFlow and ours side by side."""

from __future__ import annotations

import subprocess

import pytest

from tests.compat.tensorflow.test_truncated_jpeg import MAKE, RECORDINGS, find_differences
from tests.frameworks.runner import find_interpreter

pytestmark = [pytest.mark.deep, pytest.mark.timeout(600)]


@pytest.fixture(scope="module")
def python() -> str:
    """The interpreter beside the real TensorFlow."""
    return find_interpreter("tensorflow")


def test_decode_jpeg_of_truncated_file_equals_tensorflow(python, tmp_path) -> None:
    MAKE.make_files(tmp_path, seed=4)
    command = [python, str(RECORDINGS / "make.py"), str(tmp_path), "97"]
    done = subprocess.run(command, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr[-4000:]
    for file in MAKE.load_files(tmp_path):
        count, wrong = find_differences(tmp_path, file)
        assert count
        assert not wrong, file
