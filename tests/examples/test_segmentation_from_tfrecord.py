"""The example of segmentation, run as users do; its masks and its measure by themselves."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

PROGRAM = Path(__file__).parents[2] / "examples" / "segmentation_from_tfrecord.py"


def program():
    spec = importlib.util.spec_from_file_location("segmentation_from_tfrecord", PROGRAM)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_create_palette_has_colors_of_voc() -> None:
    colors = np.reshape(program().palette(), (256, 3)).tolist()
    assert colors[:4] == [[0, 0, 0], [128, 0, 0], [0, 128, 0], [128, 128, 0]]
    assert colors[8] == [64, 0, 0] and colors[20] == [0, 64, 128] and colors[255] == [224, 224, 192]


def test_mean_iou_ignores_void_pixels() -> None:
    masks = np.array([[0, 0, 1, 1], [2, 2, 255, 255]])
    found = np.array([[0, 1, 1, 1], [2, 0, 0, 2]])
    assert program().intersection_over_union(found, masks).tolist() == pytest.approx([1 / 3, 2 / 3, 1 / 2])


@pytest.mark.deep
def test_trained_segmentation_finds_objects_in_new_tiles(tmp_path: Path) -> None:
    command = [sys.executable, str(PROGRAM), str(tmp_path / "run")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "84 masks hold the indices that were drawn" in done.stdout
    first, last = re.search(r"loss ([0-9.]+), then ([0-9.]+)", done.stdout).groups()
    shares = [float(found) for found in re.findall(r"(?:background|coin|flower) ([0-9.]+)", done.stdout)]
    assert float(last) < float(first) / 3
    assert len(shares) == 3 and min(shares) > 0.6
