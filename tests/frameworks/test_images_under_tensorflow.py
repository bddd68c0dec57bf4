"""Image operations with other sizes, seeds and pixels than the recordings: TensorFlow and ours side by side."""

from __future__ import annotations

import subprocess

import pytest

from tests.compat.tensorflow.test_images import FAMILIES, RECORDINGS, compare
from tests.frameworks.runner import find_interpreter

pytestmark = [pytest.mark.deep, pytest.mark.timeout(1800)]


@pytest.fixture(scope="module")
def python() -> str:
    """The interpreter beside the real TensorFlow."""
    return find_interpreter("tensorflow")


@pytest.mark.parametrize("seed", [0, 12, pytest.param(13, marks=pytest.mark.campaign)])
def test_image_operations_equal_tensorflow(python, tmp_path, seed) -> None:
    command = [python, str(RECORDINGS / "make.py"), str(tmp_path), str(seed)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-4000:]
    assert sum(compare(tmp_path, seed, family) for family in FAMILIES) > 1000
    if seed == 0:
        assert (tmp_path / "expected.json").read_bytes() == (RECORDINGS / "expected.json").read_bytes()
