"""The tables of the parity page equal the recordings."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def parity():
    spec = importlib.util.spec_from_file_location("parity", ROOT / "tools" / "parity.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_parity_page_contains_generated_tables(parity) -> None:
    page = (ROOT / "docs" / "decoding" / "parity.md").read_text(encoding="utf-8")
    # Sines and exponentials of another C library may turn a last bit of TensorFlow's curves.
    assert parity.build_tables().replace("below 0.001 level", "equal") in page


def test_parity_differences_are_the_documented_ones(parity) -> None:
    rows = [line for line in parity.build_tables().splitlines() if line.startswith("| ") and "equal" not in line]
    explained = ("Library", "lanczos", "gaussian", "mxnet 1.9.1 | `opencv:cubic`")
    assert [row for row in rows if not any(word in row for word in explained)] == []
    assert not any("level" in row and not ("1 level" in row or "below" in row) for row in rows)
