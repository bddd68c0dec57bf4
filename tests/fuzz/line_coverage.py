"""Report the executed lines of Python files to libFuzzer, which sees only the native code by itself."""

from __future__ import annotations

import ctypes
import importlib
import sys
from collections.abc import Callable
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

# Lines of one file that have counters of their own.
LINES_PER_FILE = 1024


def load_check(target: str, counters_address: int, num_counters: int) -> Callable[[bytes], None]:
    """Import the check of a target and count the lines of the files that it names in `TRACED_FILES`."""
    module = importlib.import_module(f"tests.fuzz.{target}")
    counters = (ctypes.c_uint8 * num_counters).from_address(counters_address)
    if module.TRACED_FILES:
        sys.settrace(_line_counter(counters, module.TRACED_FILES))
    return module.check


def _line_counter(counters: Any, files: tuple[str, ...]) -> Callable[..., Any]:
    """Return a trace function that counts the lines of the given files; they are names without folders."""
    starts: dict[CodeType, int | None] = {}

    def find_start(code: CodeType) -> int | None:
        path = Path(code.co_filename)
        return files.index(path.name) * LINES_PER_FILE if path.name in files and "recordmill" in path.parts else None

    def count(frame: FrameType, event: str, _: Any) -> Any:
        code = frame.f_code
        if code not in starts:
            starts[code] = find_start(code)
        start = starts[code]
        if start is None:
            return None
        if event == "line":
            counter = (start + frame.f_lineno) % len(counters)
            counters[counter] = min(counters[counter] + 1, 255)
        return count

    return count
