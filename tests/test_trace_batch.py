"""`tools/trace_batch.py` runs; no test checks the numbers that it prints, because they change with the code."""

from __future__ import annotations

import pytest

from tools import trace_batch


@pytest.mark.parametrize("options", [[], ["--list"]], ids=["counts", "calls"])
def test_trace_batch_prints_a_row_per_step(
    options: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["trace_batch", *options])
    assert trace_batch.main() == 0
    rows = capsys.readouterr().out.splitlines()
    for row, name in zip(rows[1:4], ("rm.open", "first batch", "warm batch"), strict=True):
        assert row.startswith(name)
        assert all(int(count) > 0 for count in row.removeprefix(name).split())
    assert len(rows) == 4 if not options else len(rows) > 100
