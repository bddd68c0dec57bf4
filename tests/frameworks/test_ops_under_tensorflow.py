"""Operations on random tensors under TensorFlow and under ours, by one other line; and the recordings made anew."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.frameworks.runner import find_interpreter

RECORDINGS = Path(__file__).parents[1] / "recordings"
PROGRAM = Path(__file__).parent / "program_for_tensorflow_ops.py"
IMPORT = "import tensorflow as tf\n"

pytestmark = [pytest.mark.deep, pytest.mark.timeout(1800)]


@pytest.fixture(scope="module")
def python() -> str:
    """The interpreter beside the real TensorFlow."""
    return find_interpreter("tensorflow")


def run(interpreter: str, source: str, folder: Path) -> list[str]:
    """Lines that a program prints."""
    folder.mkdir()
    (folder / "program.py").write_text(source)
    environment = {**os.environ, "CUDA_VISIBLE_DEVICES": "", "TF_CPP_MIN_LOG_LEVEL": "3"}
    done = subprocess.run(
        [interpreter, "-W", "ignore", "program.py"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        env=environment,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    return done.stdout.splitlines()


def test_operations_print_the_same_with_changed_import(python, tmp_path) -> None:
    source = PROGRAM.read_text("utf-8")
    assert source.count(IMPORT) == 1
    ours = source.replace(IMPORT, "import recordmill.compat.tensorflow as tf\n")
    expected = run(python, source, tmp_path / "tensorflow")
    found = run(sys.executable, ours, tmp_path / "ours")
    assert len(expected) > 1500
    assert [pair for pair in zip(found, expected, strict=True) if pair[0] != pair[1]] == []


def test_operation_recordings_equal_new_ones(python, tmp_path) -> None:
    script = RECORDINGS / "compat" / "tensorflow" / "ops" / "make.py"
    done = subprocess.run([python, str(script), str(tmp_path)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-4000:]
    found, kept = (
        json.loads((folder / "expected.json").read_text())["results"] for folder in (tmp_path, script.parent)
    )
    assert list(found) == list(kept)
    assert [name for name in kept if not is_equal(found[name], kept[name])] == []


def is_equal(found: object, kept: object) -> bool:
    """Compare recorded results; the last bits of TensorFlow's sums depend on the processor."""
    if isinstance(found, dict) and isinstance(kept, dict):
        return list(found) == list(kept) and all(is_equal(found[name], kept[name]) for name in kept)
    if isinstance(found, list) and isinstance(kept, list):
        return len(found) == len(kept) and all(map(is_equal, found, kept))
    if isinstance(found, str) and isinstance(kept, str) and "0x" in found and "0x" in kept:
        return math.isclose(float.fromhex(found), float.fromhex(kept), rel_tol=1e-6)
    return found == kept
