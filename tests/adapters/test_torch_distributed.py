"""Processes of torch.distributed share one epoch and train to the weights of a single process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.adapters.digits import FAMILIES, NUM_SAMPLES
from tests.adapters.distributed import EPOCHS

pytestmark = pytest.mark.deep
ROOT = Path(__file__).parents[2]
GLOBAL_BATCH = 16


def run(processes: int, folder: Path, meeting: Path) -> list[dict[str, Any]]:
    """Start the processes of one training and give what each of them printed."""
    size = GLOBAL_BATCH // processes
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])}
    running = [
        subprocess.Popen(
            [sys.executable, "-m", "tests.adapters.distributed", *map(str, (rank, processes, meeting, folder, size))],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=environment,
        )
        for rank in range(processes)
    ]
    told = []
    for process in running:
        out, err = process.communicate(timeout=300)
        assert process.returncode == 0, err
        told.append(json.loads(out.splitlines()[-1]))
    return told


def test_processes_when_they_share_an_epoch_then_train_as_one_does(squares: Path, tmp_path: Path) -> None:
    alone = run(1, squares, tmp_path / "alone")[0]
    first, second = run(2, squares, tmp_path / "both")
    for family in FAMILIES:
        one, left, right = alone[family], first[family], second[family]
        assert [left["ranks"], right["ranks"], one["ranks"]] == [[0, 2], [1, 2], [0, 1]]
        assert len(left["labels"]) == len(right["labels"]) == EPOCHS * (NUM_SAMPLES // GLOBAL_BATCH)
        together = [mine + theirs for mine, theirs in zip(left["labels"], right["labels"], strict=True)]
        assert together == one["labels"], "the batches of the ranks make the global batch, in order"
        assert left["weights"] == right["weights"]
        assert np.allclose(left["weights"], one["weights"], rtol=1e-4, atol=1e-6)
