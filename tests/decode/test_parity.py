"""The parity page says what the recordings say."""

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


def test_page_when_tables_are_made_again_then_has_them(parity) -> None:
    page = (ROOT / "docs" / "decoding" / "parity.md").read_text(encoding="utf-8")
    # Sines and exponentials of another C library may turn a last bit of TensorFlow's curves.
    assert parity.tables().replace("below 0.001 level", "equal") in page


def test_tables_when_read_then_differences_are_those_that_are_explained(parity) -> None:
    rows = [line for line in parity.tables().splitlines() if line.startswith("| ") and "equal" not in line]
    explained = ("Library", "lanczos", "gaussian", "mxnet 1.9.1 | `opencv:cubic`")
    assert [row for row in rows if not any(word in row for word in explained)] == []
    assert not any("level" in row and not ("1 level" in row or "below" in row) for row in rows)
