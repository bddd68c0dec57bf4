"""Measure whether user functions run faster concurrently or one at a time, and call them accordingly.

Functions that release the interpreter lock often but briefly, as NumPy does for small arrays, take up to twice as long
in two threads as in one. Functions that release it for a long time, such as those of OpenCV or Pillow, run in parallel.
Only a measurement tells them apart. The benchmark `P5-function` measures the difference: with two threads, the lock
makes its function 1.5 times as fast. Return values do not depend on the lock.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable
from math import inf
from threading import Lock
from time import perf_counter

# Consecutive calls of a function are timed together, as one piece of about this many seconds. A piece is longer than
# the interval after which the interpreter switches threads, and short enough to measure often.
_PIECE_S = 0.02
# Number of calls that are timed together first, while the duration of a call is still unknown.
_FIRST_PIECE = 8
# A function is measured in this many pieces (groups of calls) with the lock, and in as many pieces without the lock.
_NUM_MEASURED = 4
# Pause between two measurements, as a multiple of the duration of a measurement. The multiple starts at the first
# number, and doubles after every pause up to the second number.
_MIN_REST, _MAX_REST = 2, 32
# The lock is used if the time of a call with the lock, divided by the time without the lock, is below this ratio. The
# ratio is below 1 to allow for measurement errors from the load of other programs.
_MIN_GAIN = 0.7
# A measurement with the lock must not include the effect of other threads. It counts only if fewer threads than this
# were running user functions on average.
_MAX_ALONE = 1.1
# A measurement without the lock must include the effect of other threads. It counts only if more threads than this were
# running user functions on average.
_MIN_CONCURRENT = 1.4
# A measurement with the lock does not count if other functions ran at the same time without the lock. After this many
# such measurements in a row, the function runs without the lock until the next measurement.
_MAX_OVERLAPPING = 16
# Maximum number of seconds to wait for the lock. The function that holds the lock may hang or wait for another thread.
_LOCK_TIMEOUT_S = 0.25
# A function that takes longer than this many seconds per call runs without the lock until the next measurement.
_LONG_CALL_S = 0.05


class FunctionLock:
    """Lock for the user functions of one process. Only functions that run faster with the lock use it."""

    def __init__(self) -> None:
        self._lock, self._count_lock = Lock(), Lock()
        self._costs: defaultdict[Hashable, _CallCosts] = defaultdict(_CallCosts)
        self._num_inside, self._changed, self._thread_seconds = 0, 0.0, 0.0

    def __reduce__(self) -> tuple[type[FunctionLock], tuple[()]]:
        """Pickle as a new lock, because a lock belongs to its process."""
        return FunctionLock, ()

    def call_each(self, stage: Hashable, count: int, call: Callable[[int], None]) -> None:
        """Call a function with the numbers from 0 to `count` - 1, and time the calls."""
        costs, done = self._costs[stage], 0
        while done < count:
            stop = done + costs.choose_piece_size(count - done)
            locked = costs.prefers_lock() and self._acquire_or_avoid_lock(costs)
            started, seconds_before = self._update_thread_count(1)
            try:
                for number in range(done, stop):
                    call(number)
            finally:
                ended, seconds_after = self._update_thread_count(-1)
                if locked:
                    self._lock.release()
            num_threads = (seconds_after - seconds_before) / (ended - started) if ended > started else 1.0
            costs.add(started, ended, stop - done, num_threads, locked=locked)
            done = stop

    def _acquire_or_avoid_lock(self, costs: _CallCosts) -> bool:
        acquired = self._lock.acquire(timeout=_LOCK_TIMEOUT_S)
        if not acquired:
            costs.avoid_lock()
        return acquired

    def _update_thread_count(self, change: int) -> tuple[float, float]:
        """Add `change` to the number of threads that are running user functions.

        Returns
        -------
        (float, float)
            The current time, and the seconds that all threads together have spent in user functions.
        """
        with self._count_lock:
            now = perf_counter()
            self._thread_seconds += self._num_inside * (now - self._changed)
            self._changed = now
            self._num_inside += change
            return now, self._thread_seconds


class _CallCosts:
    """Measured seconds per call of one function, with and without the lock. Races between threads may lose values."""

    def __init__(self) -> None:
        self._locked: list[float] = []
        self._concurrent: list[float] = []
        self._num_overlapping = 0
        self._measuring_s, self._measure_again, self._rest = 0.0, 0.0, _MIN_REST

    def choose_piece_size(self, count: int) -> int:
        known = (self._concurrent or self._locked)[-1:]
        return min(count, max(1, int(_PIECE_S / known[0])) if known and known[0] else _FIRST_PIECE)

    def prefers_lock(self) -> bool:
        if len(self._locked) < _NUM_MEASURED:
            return True
        if len(self._concurrent) < _NUM_MEASURED:
            return False
        return min(self._locked) < _MIN_GAIN * sum(self._concurrent) / len(self._concurrent)

    def avoid_lock(self) -> None:
        """Record infinite times for calls with the lock, so that calls avoid the lock until the next measurement."""
        self._locked, self._num_overlapping = [inf] * _NUM_MEASURED, 0

    def add(self, started: float, ended: float, count: int, num_threads: float, *, locked: bool) -> None:
        """Add the time of `count` calls. Meanwhile, `num_threads` threads on average were running user functions."""
        seconds = (ended - started) / max(count, 1)
        if locked and (seconds > _LONG_CALL_S or self._num_overlapping == _MAX_OVERLAPPING):
            self.avoid_lock()
        elif locked and num_threads < _MAX_ALONE:
            self._locked, self._num_overlapping = [*self._locked[1 - _NUM_MEASURED :], seconds], 0
        elif locked:
            self._num_overlapping += 1
        elif num_threads > _MIN_CONCURRENT:
            self._concurrent = [*self._concurrent[1 - _NUM_MEASURED :], seconds / num_threads]
        if len(self._locked) < _NUM_MEASURED or len(self._concurrent) < _NUM_MEASURED:
            self._measuring_s += ended - started
            self._measure_again = ended + self._rest * self._measuring_s
        elif ended > self._measure_again:
            self._measuring_s, self._rest = 0.0, min(2 * self._rest, _MAX_REST)
            (self._concurrent if self.prefers_lock() else self._locked).clear()
