"""Run one program with OneFlow and, after changing its import lines, with recordmill."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.frameworks.runner import find_interpreter, replace_imports, run_program

PROGRAM = Path(__file__).parent / "program_for_oneflow.py"
LINES = {
    "import oneflow as flow": "import recordmill.compat.oneflow as flow",
    "import oneflow.core.record.record_pb2 as ofrecord": "import recordmill.compat.oneflow.record_pb2 as ofrecord",
}

pytestmark = [pytest.mark.deep, pytest.mark.timeout(1800)]


def test_program_with_changed_imports_prints_and_writes_the_same(tmp_path: Path) -> None:
    source = PROGRAM.read_text("utf-8")
    expected = run_program(find_interpreter("oneflow"), source, tmp_path / "oneflow")
    assert len(expected) > 12
    assert run_program(sys.executable, replace_imports(source, LINES), tmp_path / "ours") == expected
    for name in ("part-0", "part-1"):
        assert (tmp_path / "ours/parts" / name).read_bytes() == (tmp_path / "oneflow/parts" / name).read_bytes()
