"""What worker processes make in tests of crews; they import it by name."""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np


class UnpicklableError(Exception):
    """An error that cannot be built again from what pickle notes of it."""

    def __init__(self, first: int, second: int) -> None:
        super().__init__(f"{first} and {second}")


class HeavyError(Exception):
    """An error with a payload."""

    def __init__(self, payload: Any) -> None:
        super().__init__("heavy")
        self.payload = payload


class Refuses:
    """A work that arrives nowhere."""

    def __reduce__(self) -> Any:
        return _refuse, ()

    def __call__(self, place: int) -> int:
        return place


class Kills(Refuses):
    """A work that ends the process where it arrives."""

    def __reduce__(self) -> Any:
        return signal.raise_signal, (signal.SIGTERM,)


def _refuse() -> None:
    raise ModuleNotFoundError("no module named 'elsewhere'", name="elsewhere")


def pid(place: int) -> int:
    return os.getpid()


def napping(place: int) -> int:
    time.sleep(place * 7 % 5 * 1e-3)
    return place * place


def pattern(place: int, count: int = 50_000) -> np.ndarray:
    return np.full(count + 1000 * (place % 7), place, np.int32)


def prints(place: int) -> None:
    print(f"made {place}")


def hang(folder: str, place: int, at: int = 2) -> int:
    """Make all but one element; the file tells that its making has begun."""
    if place == at:
        Path(folder, "hangs").write_text(str(os.getpid()))
        time.sleep(10_000)
    return place


def exit_at(place: int, at: int = 3, code: int = 7) -> int:
    if place == at:
        os._exit(code)
    return place


def fail(place: int) -> Any:
    """Fail in a way of its own at each place."""
    if place == 1:
        try:
            return {}["missing"]
        except KeyError as error:
            raise ValueError("has a cause") from error
    if place == 2:
        error = UnpicklableError(4, 5)
        error.add_note("a note")
        raise error
    if place == 3:
        raise HeavyError(np.arange(300_000))
    if place == 4:
        sys.exit(5)
    if place == 5:
        return lambda: None
    if place == 6:
        raise KeyboardInterrupt
    return place
