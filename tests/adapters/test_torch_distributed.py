"""Ranks of torch.distributed divide the batches of an epoch and train to the weights of a single process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.adapters.squares import FAMILIES, NUM_SAMPLES
from tests.adapters.torch_process import EPOCHS

pytestmark = pytest.mark.deep
ROOT = Path(__file__).parents[2]
GLOBAL_BATCH = 16


def run(world_size: int, folder: Path, store: Path) -> list[dict[str, Any]]:
    """Start the ranks of one training and return what each of them printed."""
    size = GLOBAL_BATCH // world_size
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])}
    processes = [
        subprocess.Popen(
            [sys.executable, "-m", "tests.adapters.torch_process", *map(str, (rank, world_size, store, folder, size))],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=environment,
        )
        for rank in range(world_size)
    ]
    outputs = []
    for process in processes:
        out, err = process.communicate(timeout=300)
        assert process.returncode == 0, err
        outputs.append(json.loads(out.splitlines()[-1]))
    return outputs


def test_two_ranks_train_to_weights_of_one_process(squares: Path, tmp_path: Path) -> None:
    single = run(1, squares, tmp_path / "single")[0]
    first, second = run(2, squares, tmp_path / "both")
    for family in FAMILIES:
        one, left, right = single[family], first[family], second[family]
        assert [left["ranks"], right["ranks"], one["ranks"]] == [[0, 2], [1, 2], [0, 1]]
        assert len(left["labels"]) == len(right["labels"]) == EPOCHS * (NUM_SAMPLES // GLOBAL_BATCH)
        joined = [mine + other for mine, other in zip(left["labels"], right["labels"], strict=True)]
        assert joined == one["labels"], "the batches of the ranks form the global batch in order"
        assert left["weights"] == right["weights"]
        assert np.allclose(left["weights"], one["weights"], rtol=1e-4, atol=1e-6)
