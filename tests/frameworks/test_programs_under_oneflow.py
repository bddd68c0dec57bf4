"""Run one program with OneFlow and, after changing its import lines, with recordmill."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.frameworks.swapping import interpreter_of, run, swapped

PROGRAM = Path(__file__).parent / "program_for_oneflow.py"
LINES = {
    "import oneflow as flow": "import recordmill.compat.oneflow as flow",
    "import oneflow.core.record.record_pb2 as ofrecord": "import recordmill.compat.oneflow.record_pb2 as ofrecord",
}

pytestmark = [pytest.mark.deep, pytest.mark.timeout(1800)]


def test_program_with_changed_imports_prints_and_writes_the_same(tmp_path: Path) -> None:
    source = PROGRAM.read_text("utf-8")
    expected = run(interpreter_of("oneflow"), source, tmp_path / "oneflow")
    assert len(expected) > 12
    assert run(sys.executable, swapped(source, LINES), tmp_path / "ours") == expected
    for name in ("part-0", "part-1"):
        assert (tmp_path / "ours/parts" / name).read_bytes() == (tmp_path / "oneflow/parts" / name).read_bytes()
