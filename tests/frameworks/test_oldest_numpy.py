"""A choice of the fast tests under the oldest NumPy that the package takes, in an environment of its own."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from tests.frameworks.runner import find_interpreter

ROOT = Path(__file__).parents[2]
CHOSEN = [
    *(
        "formats",
        "compat/hashing",
        "storage",
        "packing/test_recode.py",
    ),
    *("pipeline/test_stages.py", "pipeline/test_shuffle.py", "decode/test_batch.py"),
    *("decode/test_geometry.py", "decode/test_warp_affine.py", "decode/test_cmyk.py"),
    *("compat/mxnet/test_random_augmentation.py", "compat/mxnet/test_recordio.py"),
    *("compat/tensorflow/test_data_raw.py", "compat/tensorflow/test_image_operations.py"),
    *("compat/tensorflow/test_data_control_flow.py", "compat/tensorflow/test_programs.py", "compat/oneflow"),
]
# These take longer, and use the same functions of NumPy as those above.
LONG = ["shards/test_file_pool.py", "shards/test_damage.py", "pipeline/test_resume.py"]

pytestmark = pytest.mark.deep


@pytest.mark.parametrize("chosen", [CHOSEN, pytest.param(LONG, marks=pytest.mark.campaign)], ids=["chosen", "long"])
def test_fast_tests_pass_with_oldest_numpy(chosen: list[str]) -> None:
    (oldest,) = re.findall(r'"numpy>=([\d.]+)"', (ROOT / "pyproject.toml").read_text())
    python = find_interpreter("numpy")
    asked = [python, "-c", "import numpy; print(numpy.__version__)"]
    version = subprocess.run(asked, capture_output=True, text=True, check=True).stdout
    assert version.startswith(oldest)
    command = [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", *(f"tests/{one}" for one in chosen)]
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
