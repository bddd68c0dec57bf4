"""The same programs under the real MXNet and under ours, by one other line; and the recordings made anew."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.frameworks.swapping import RECORDINGS, interpreter_of, run, swapped

PROGRAM = Path(__file__).parent / "program_for_mxnet.py"
PROGRAMS = [PROGRAM, *(PROGRAM.with_name(f"program_for_mxnet_{name}.py") for name in ("arrays", "iterators"))]
LINES = {"import mxnet as mx": "import recordmill.compat.mxnet as mx"}

pytestmark = [pytest.mark.deep, pytest.mark.timeout(1800)]


@pytest.fixture(scope="module")
def python() -> str:
    """The interpreter beside the real MXNet."""
    return interpreter_of("mxnet")


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.stem)
def test_program_when_its_import_is_changed_then_prints_the_same(python, tmp_path, program) -> None:
    source = program.read_text("utf-8")
    expected = run(python, source, tmp_path / "mxnet")
    assert len(expected) > 20
    assert run(sys.executable, swapped(source, LINES), tmp_path / "ours") == expected


def test_files_when_written_by_either_then_are_the_same_to_the_byte(python, tmp_path) -> None:
    source = PROGRAM.read_text("utf-8")
    run(python, source, tmp_path / "mxnet")
    run(sys.executable, swapped(source, LINES), tmp_path / "ours")
    written = sorted(path.name for path in (tmp_path / "mxnet").iterdir() if path.suffix in (".rec", ".idx"))
    assert len(written) >= 5
    for name in written:
        assert (tmp_path / "ours" / name).read_bytes() == (tmp_path / "mxnet" / name).read_bytes(), name


def test_recordings_when_made_anew_then_are_those_that_are_kept(python, tmp_path) -> None:
    script = RECORDINGS / "compat" / "mxnet" / "make.py"
    done = subprocess.run([python, str(script), str(tmp_path)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-4000:]
    found, kept = (json.loads((folder / "expected.json").read_text()) for folder in (tmp_path, script.parent))
    # Where MXNet multiplies matrices, the last digits are the processor's.
    near, kept_near = found.pop("nearly augmented"), kept.pop("nearly augmented")
    assert near.keys() == kept_near.keys()
    for name, values in kept_near.items():
        np.testing.assert_allclose(near[name], values, rtol=1e-5, atol=1e-4, err_msg=name)
    for name in kept:
        assert found[name] == kept[name], name


@pytest.mark.parametrize("name", ["files", "steps"])
def test_recordings_of_a_folder_when_made_anew_then_are_those_that_are_kept(python, tmp_path, name) -> None:
    script = RECORDINGS / "compat" / "mxnet" / name / "make.py"
    subprocess.run([python, str(script), str(tmp_path)], capture_output=True, check=True)
    found, kept = (json.loads((folder / "expected.json").read_text()) for folder in (tmp_path, script.parent))
    for case, values in kept.items():
        if case == "scaled":  # sums of floats in the processor's order
            for size, pixels in values.items():
                np.testing.assert_allclose(found[case][size], pixels, atol=1e-4, err_msg=size)
        else:
            assert found[case] == values, case
