"""``tf.image`` and the image codecs of ``tf.io`` against recordings of TensorFlow."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import numpy as np
import pytest

import recordmill.compat.tensorflow as tf

RECORDINGS = Path(__file__).parents[2] / "recordings" / "compat" / "tensorflow" / "images"
FAMILIES = ("decoded", "truncated", "encoded", "resized", "windows", "moved", "levels", "colours", "stateless")


def module_of(path: Path):
    spec = importlib.util.spec_from_file_location(f"recording_{path.stem}", path)
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


def compare(folder: Path, seed: int, family: str) -> int:
    """Compare every program of a family with a folder of recordings and return their number."""
    make, short = module_of(RECORDINGS / "make.py"), module_of(RECORDINGS / "programs.py")
    expected = json.loads((folder / "expected.json").read_text("utf-8"))
    count = 0
    with np.load(folder / "expected.npz") as arrays:
        for name, program in short.programs(tf, make.load_files(), seed):
            if name.lstrip("~").split()[0] != family:
                continue
            found, count = short.result(program), count + 1
            if name in arrays.files:
                assert found.dtype == arrays[name].dtype, name
                limits = {"rtol": 3e-6, "atol": 3e-6} if found.dtype.kind == "f" else {"rtol": 0, "atol": 1}
                np.testing.assert_allclose(
                    found.astype(np.float64), arrays[name].astype(np.float64), **limits, err_msg=name
                )
            elif expected[name][0] == "error":
                assert found[0] == expected[name][1], name
            else:
                assert make.told(found) == expected[name], name
    return count


@pytest.mark.parametrize("family", FAMILIES)
def test_image_operation_equals_recording(family) -> None:
    assert compare(RECORDINGS, 0, family) >= 4
