"""Run the same programs with MXNet and with recordmill, and repeat the recordings."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.frameworks.runner import RECORDINGS, find_interpreter, replace_imports, run_program

PROGRAM = Path(__file__).parent / "program_for_mxnet.py"
PROGRAMS = [PROGRAM, PROGRAM.with_name("program_for_mxnet_arrays.py")]
LINES = {"import mxnet as mx": "import recordmill.compat.mxnet as mx"}

pytestmark = [pytest.mark.deep, pytest.mark.timeout(1800)]


@pytest.fixture(scope="module")
def python() -> str:
    """Return the interpreter of the environment that has MXNet."""
    return find_interpreter("mxnet")


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.stem)
def test_program_prints_the_same_with_changed_import(python, tmp_path, program) -> None:
    source = program.read_text("utf-8")
    expected = run_program(python, source, tmp_path / "mxnet")
    assert len(expected) > 20
    assert run_program(sys.executable, replace_imports(source, LINES), tmp_path / "ours") == expected


def test_files_written_by_both_are_identical(python, tmp_path) -> None:
    source = PROGRAM.read_text("utf-8")
    run_program(python, source, tmp_path / "mxnet")
    run_program(sys.executable, replace_imports(source, LINES), tmp_path / "ours")
    written = sorted(path.name for path in (tmp_path / "mxnet").iterdir() if path.suffix in (".rec", ".idx"))
    assert len(written) >= 5
    for name in written:
        assert (tmp_path / "ours" / name).read_bytes() == (tmp_path / "mxnet" / name).read_bytes(), name


def test_recordings_equal_new_ones(python, tmp_path) -> None:
    script = RECORDINGS / "compat" / "mxnet" / "make.py"
    done = subprocess.run([python, str(script), str(tmp_path)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-4000:]
    found, kept = (json.loads((folder / "expected.json").read_text()) for folder in (tmp_path, script.parent))
    # Where MXNet multiplies matrices, the last digits are the processor's.
    near, kept_near = found.pop("color augmented"), kept.pop("color augmented")
    assert near.keys() == kept_near.keys()
    for name, values in kept_near.items():
        np.testing.assert_allclose(near[name], values, rtol=1e-5, atol=1e-4, err_msg=name)
    for name in kept:
        assert found[name] == kept[name], name


def test_recordings_of_datasets_equal_new_ones(python, tmp_path) -> None:
    script = RECORDINGS / "compat" / "mxnet" / "files" / "make.py"
    subprocess.run([python, str(script), str(tmp_path)], capture_output=True, check=True)
    found, kept = (json.loads((folder / "expected.json").read_text()) for folder in (tmp_path, script.parent))
    assert found == kept
