"""How far packing is, in words and figures."""

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


def test_progress_when_on_a_terminal_then_redraws_one_line() -> None:
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


def test_progress_when_not_on_a_terminal_then_is_quiet_unless_asked() -> None:
    clock = Clock()
    quiet, asked = io.StringIO(), io.StringIO()
    for stream, show in ((quiet, None), (asked, True)):
        progress = Progress(None, show, stream, clock)
        clock.now += 10
        progress.advance(20)
        progress.close()
    assert quiet.getvalue() == ""
    assert asked.getvalue() == "20 records, 2 per second, 0:10 in total\n" * 2


def test_progress_when_switched_off_then_is_quiet_on_a_terminal_too() -> None:
    stream = Terminal()
    progress = Progress(1, False, stream, lambda: 0.0)
    progress.advance(1)
    progress.close()
    assert stream.getvalue() == ""


def test_progress_when_nothing_is_done_then_no_time_is_promised() -> None:
    assert Progress(5, True, io.StringIO(), Clock())._format_line() == "0 of 5 records, 0 per second"


@pytest.mark.parametrize("workers", [1, 3])
def test_progress_when_a_function_then_it_is_called_with_the_counts(
    flat_folder: Path, tmp_path: Path, workers: int, capsys: pytest.CaptureFixture[str]
) -> None:
    calls: list[tuple[int, int | None]] = []
    pack(
        ImageFolder(flat_folder, labels=None),
        tmp_path / "train",
        shards=4,
        workers=workers,
        progress=lambda done, total: calls.append((done, total)),
    )
    assert calls[-1] == (12, 12) and [done for done, _ in calls] == sorted(done for done, _ in calls)
    pack([{"x": 1}, {"x": 2}], tmp_path / "b", progress=lambda done, total: calls.append((done, total)))
    assert calls[-2:] == [(1, 2), (2, 2)]
    assert capsys.readouterr() == ("", "")
