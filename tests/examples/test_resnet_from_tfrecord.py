"""The example of ResNet under TensorFlow's names, run as users do, interrupted, and run again."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = Path(__file__).parents[2] / "examples" / "resnet_from_tfrecord.py"


def run(folder: Path, epochs: int) -> str:
    command = [sys.executable, str(PROGRAM), str(folder), str(epochs)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.deep
def test_second_run_of_resnet_resumes_from_newest_checkpoint(tmp_path: Path) -> None:
    first = run(tmp_path / "run", 1)
    (made,) = (tmp_path / "run" / "ckpt").iterdir()
    assert first.startswith("from scratch\n") and re.fullmatch(
        r"ckpt1-loss\d\.\d{3}-accuracy0\.\d{3}\.weights\.h5", made.name
    )
    second = run(tmp_path / "run", 3)
    assert second.startswith(f"from {made.name}\n") and "Epoch 2/3" in second and "Epoch 1/3" not in second
    losses = [float(found) for found in re.findall(r"- loss: ([0-9.]+)", first + second)]
    assert len(losses) == 3 and losses[1] < losses[0]
    assert float(re.search(r"([0-9.]+)% of 297 digits", second)[1]) > 70
    assert len(list((tmp_path / "run" / "ckpt").iterdir())) == 3
