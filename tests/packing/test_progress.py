"""Progress: the text on a terminal, in a log, and the calls of a function."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from recordmill.packing.pack import pack
from recordmill.packing.progress import Progress
from recordmill.packing.sources import ImageFolder


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_progress_redraws_one_line_on_terminal() -> None:
    stream, clock = Terminal(), Clock()
    progress = Progress(4000, None, stream, clock)
    clock.now += 0.1
    progress.advance(1)
    assert stream.getvalue() == ""
    clock.now += 0.9
    progress.advance(999)
    assert stream.getvalue() == "\r\x1b[K1,000 of 4,000 records, 1,000 per second, 0:03 left"
    clock.now += 3724
    progress.advance(3000)
    progress.close()
    assert stream.getvalue().endswith("\r\x1b[K4,000 of 4,000 records, 1 per second, 1:02:05 in total\n")


def test_progress_writes_lines_to_file_only_if_enabled() -> None:
    clock = Clock()
    default, enabled = io.StringIO(), io.StringIO()
    for stream, show in ((default, None), (enabled, True)):
        progress = Progress(None, show, stream, clock)
        clock.now += 10
        progress.advance(20)
        progress.close()
    assert default.getvalue() == ""
    assert enabled.getvalue() == "20 records, 2 per second, 0:10 in total\n" * 2


def test_progress_disabled_writes_nothing_on_terminal() -> None:
    stream = Terminal()
    progress = Progress(1, False, stream, lambda: 0.0)
    progress.advance(1)
    progress.close()
    assert stream.getvalue() == ""


def test_progress_omits_remaining_time_before_first_record() -> None:
    stream = io.StringIO()
    Progress(5, True, stream, Clock()).close()
    assert stream.getvalue() == "0 of 5 records, 0 per second\n"


@pytest.mark.parametrize("workers", [1, 3])
def test_pack_calls_progress_function_with_counts(
    flat_folder: Path, tmp_path: Path, workers: int, capsys: pytest.CaptureFixture[str]
) -> None:
    calls: list[tuple[int, int | None]] = []
    pack(
        ImageFolder(flat_folder, labels=None),
        tmp_path / "train",
        shards=4,
        workers=workers,
        progress=lambda *counts: calls.append(counts),
    )
    assert calls[-1] == (12, 12) and calls == sorted(calls)
    pack([{"x": 1}, {"x": 2}], tmp_path / "b", progress=lambda *counts: calls.append(counts))
    assert calls[-2:] == [(1, 2), (2, 2)]
    assert capsys.readouterr() == ("", "")
