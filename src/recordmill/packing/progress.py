"""How far packing is: a line with rate and remaining time on a terminal, a callback, or nothing."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable
from typing import TextIO

_REDRAW_S = 0.2
_LINE_S = 5.0
_CLEAR = "\r\x1b[K"


class Progress:
    """Counts what is done and shows it.

    Parameters
    ----------
    total : int or None
        Items in all, if known.
    show : bool, callable or None
        True shows text on standard error, None does so on a terminal only; a callable is called with the number done
        and the total (or None), from the thread that did the work, never twice at a time.
    stream : text file, optional
        Standard error by default.
    clock : callable
        Seconds.
    """

    def __init__(
        self,
        total: int | None,
        show: bool | Callable[[int, int | None], object] | None,
        stream: TextIO | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._total, self._clock = total, clock
        self._stream = sys.stderr if stream is None else stream
        self._call = show if callable(show) else None
        terminal = bool(getattr(self._stream, "isatty", bool)())
        self._text = self._call is None and (terminal if show is None else bool(show))
        self._start, self._end, self._pause = (_CLEAR, "", _REDRAW_S) if terminal else ("", "\n", _LINE_S)
        self._begun = self._shown = clock()
        self._lock = threading.Lock()
        self.num_done = 0

    def advance(self, count: int) -> None:
        """Count some more items."""
        with self._lock:
            self.num_done += count
            if self._call is not None:
                self._call(self.num_done, self._total)
            elif self._text and self._clock() - self._shown >= self._pause:
                self._shown = self._clock()
                self._write(self._start + self.line() + self._end)

    def close(self) -> None:
        """Show the final figures, or nothing if nothing was shown."""
        if self._text:
            self._write(self._start + self.line() + "\n")

    def line(self) -> str:
        """Progress in words."""
        seconds = max(self._clock() - self._begun, 1e-9)
        rate = self.num_done / seconds
        known = f" of {self._total:,}" if self._total is not None else ""
        text = f"{self.num_done:,}{known} records, {rate:,.0f} per second"
        if self._total is None or self.num_done >= self._total:
            return f"{text}, {_clock_text(seconds)} in all"
        return f"{text}, {_clock_text((self._total - self.num_done) / rate)} left" if rate else text

    def _write(self, text: str) -> None:
        self._stream.write(text)
        self._stream.flush()


def _clock_text(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
