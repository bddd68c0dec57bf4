"""The example that trains LeNet from OFRecord parts, run as users do."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.deep
def test_lenet_trained_from_parts_recognizes_new_digits(tmp_path: Path) -> None:
    command = [sys.executable, str(ROOT / "examples" / "lenet_from_ofrecord.py"), str(tmp_path / "run"), "100"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    losses = [float(found) for found in re.findall(r"loss ([0-9.]+)", done.stdout)]
    share = re.search(r"([0-9.]+)% of 297 digits", done.stdout)
    assert len(losses) == 5 and losses[-1] < losses[0] / 3
    assert share is not None and float(share[1]) > 70
    assert len(list((tmp_path / "run" / "train").glob("part-*"))) == 5
