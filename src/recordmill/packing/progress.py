"""Report the progress of packing: print a line with the rate and the remaining time, or call a function."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable
from typing import TextIO

# True prints the progress to standard error. None prints it only if standard error is a terminal. A function receives
# two arguments: the number of packed records, and the total number of records (None if the total is unknown).
ProgressOption = bool | Callable[[int, int | None], object] | None

_REDRAW_INTERVAL_S = 0.2
_LINE_INTERVAL_S = 5.0
_CLEAR_LINE = "\r\x1b[K"


class Progress:
    """Counts packed records and reports progress. Worker threads call the callback, but only one thread at a time."""

    def __init__(
        self,
        total: int | None,
        show: ProgressOption,
        stream: TextIO | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._total, self._clock = total, clock
        self._stream = sys.stderr if stream is None else stream
        self._callback = show if callable(show) else None
        is_terminal = bool(getattr(self._stream, "isatty", bool)())
        self._writes_text = self._callback is None and (is_terminal if show is None else bool(show))
        if is_terminal:
            self._prefix, self._suffix, self._interval = _CLEAR_LINE, "", _REDRAW_INTERVAL_S
        else:
            self._prefix, self._suffix, self._interval = "", "\n", _LINE_INTERVAL_S
        self._start_time = self._write_time = clock()
        self._lock = threading.Lock()
        self.num_records = 0

    def advance(self, count: int) -> None:
        """Add newly packed records to the count, and report the progress."""
        with self._lock:
            self.num_records += count
            if self._callback is not None:
                self._callback(self.num_records, self._total)
            elif self._writes_text and self._clock() - self._write_time >= self._interval:
                self._write_time = self._clock()
                self._write_text(self._prefix + self._format_line() + self._suffix)

    def close(self) -> None:
        """Write the final progress line, if progress is shown as text."""
        if self._writes_text:
            self._write_text(self._prefix + self._format_line() + "\n")

    def _format_line(self) -> str:
        seconds = max(self._clock() - self._start_time, 1e-9)
        rate = self.num_records / seconds
        total = f" of {self._total:,}" if self._total is not None else ""
        text = f"{self.num_records:,}{total} records, {rate:,.0f} per second"
        if self._total is None or self.num_records >= self._total:
            return f"{text}, {_format_time(seconds)} in total"
        return f"{text}, {_format_time((self._total - self.num_records) / rate)} left" if rate else text

    def _write_text(self, text: str) -> None:
        self._stream.write(text)
        self._stream.flush()


def _format_time(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
