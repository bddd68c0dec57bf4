"""Whether threads call functions of users all at once or in turn: whichever was faster."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable
from math import inf
from threading import Lock
from time import perf_counter

# A piece of work: longer than the interpreter lets a thread go on where others wait, short enough to try ways with.
_PIECE_S, _AT_FIRST = 0.02, 8
# Pieces that tell how long a way takes; how many times as long as they took the other way is not tried again: at first,
# when memory is fresh and functions import what they need, and later.
_TRIES, _MOST_IN_VAIN = 4, 16
_REST_FIRST, _REST_MOST = 2, 32
# How much faster turns must be: what other programs take of the cores makes both ways look alike.
_FASTER = 0.7
# Threads in functions, on average, up to which one counts as alone, and from which on several count as at once.
_ALONE, _TOGETHER = 1.1, 1.4
# Nobody waits longer for a turn: a function may hang, or wait for another thread. Functions that take long for a sample
# do not hinder one another for moments, and what they wait for is better waited for at once.
_PATIENCE_S, _LONG_S = 0.25, 0.05


class Turns:
    """Lets threads into functions one by one where they hinder one another, and all at once where they do not.

    Functions that let go of the interpreter lock for a moment again and again, as those of NumPy do on small arrays,
    take twice as long in two threads as in one. What they return does not depend on it.
    """

    def __init__(self) -> None:
        self.turn = Lock()
        self._paces: defaultdict[Hashable, Pace] = defaultdict(Pace)
        self._counting = Lock()
        self._inside, self._since, self._seconds = 0, 0.0, 0.0

    def taken(self, stage: Hashable, count: int) -> Turn:
        """A `with` statement that calls a stage's function for some samples, and says for how many of them."""
        pace = self._paces[stage]
        return Turn(self, pace, pace.piece(count))

    def each(self, stage: Hashable, count: int, call: Callable[[int], None]) -> None:
        """Call a stage's function for samples, some at a time."""
        done = 0
        while done < count:
            with self.taken(stage, count - done) as more:
                for row in range(done, done + more):
                    call(row)
            done += more

    def step(self, threads: int) -> tuple[float, float]:
        """Count threads that go into functions, or leave them."""
        with self._counting:
            now = perf_counter()
            self._seconds += self._inside * (now - self._since)
            self._since = now
            self._inside += threads
            return now, self._seconds

    def __reduce__(self) -> tuple[type[Turns], tuple[()]]:
        """Form for another process, which has threads of its own."""
        return Turns, ()


class Pace:
    """How long the function of one stage takes for a sample, in turn and at once.

    All threads write it without a lock: a figure that is lost makes no difference.
    """

    def __init__(self) -> None:
        self._in_turn: list[float] = []
        self._at_once: list[float] = []
        self._in_vain = 0
        self._tried_s, self._rests_until, self._rest = 0.0, 0.0, _REST_FIRST

    def piece(self, count: int) -> int:
        """How many of some samples to take at a time."""
        known = (self._at_once or self._in_turn)[-1:]
        return min(count, max(1, int(_PIECE_S / known[0])) if known and known[0] else _AT_FIRST)

    def in_turn(self) -> bool:
        """Whether to take the next samples in turn."""
        for found, way in ((self._in_turn, True), (self._at_once, False)):
            if len(found) < _TRIES:
                return way
        return min(self._in_turn) < _FASTER * sum(self._at_once) / len(self._at_once)

    def give_up(self) -> None:
        """Take no turns, until they are tried again."""
        self._in_turn, self._in_vain = [inf] * _TRIES, 0

    def note(self, begun: float, ended: float, count: int, threads: float, *, in_turn: bool) -> None:
        """Tell how long some samples took."""
        seconds = (ended - begun) / max(count, 1)
        if in_turn and (seconds > _LONG_S or self._in_vain == _MOST_IN_VAIN):
            self.give_up()
        elif in_turn and threads < _ALONE:
            self._in_turn, self._in_vain = [*self._in_turn[1 - _TRIES :], seconds], 0
        elif in_turn:  # with another function at the same time, of which turns say nothing
            self._in_vain += 1
        elif threads > _TOGETHER:
            self._at_once = [*self._at_once[1 - _TRIES :], seconds / threads]
        if len(self._in_turn) < _TRIES or len(self._at_once) < _TRIES:
            self._tried_s += ended - begun
            self._rests_until = ended + self._rest * self._tried_s
        elif ended > self._rests_until:
            self._tried_s, self._rest = 0.0, min(2 * self._rest, _REST_MOST)
            (self._at_once if self.in_turn() else self._in_turn).clear()


class Turn:
    """Samples that one thread calls a function for.

    Parameters
    ----------
    turns : Turns
    pace : Pace
    count : int
    """

    __slots__ = ("_begun", "_count", "_holds", "_pace", "_turns")

    def __init__(self, turns: Turns, pace: Pace, count: int) -> None:
        self._turns, self._pace, self._count = turns, pace, count

    def __enter__(self) -> int:
        self._holds = False
        if self._pace.in_turn():
            self._holds = self._turns.turn.acquire(timeout=_PATIENCE_S)
            if not self._holds:
                self._pace.give_up()
        self._begun = self._turns.step(1)
        return self._count

    def __exit__(self, *_: object) -> None:
        now, together = self._turns.step(-1)
        if self._holds:
            self._turns.turn.release()
        begun, before = self._begun
        threads = (together - before) / (now - begun) if now > begun else 1.0
        self._pace.note(begun, now, self._count, threads, in_turn=self._holds)
