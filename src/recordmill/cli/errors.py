"""Turns exceptions into messages on standard error and exit codes."""

from __future__ import annotations

import os
import re
import sys
import traceback
from collections.abc import Callable, Collection

from recordmill.cli.printer import note, visible

OK, FAULTS, COULD_NOT_RUN = 0, 1, 2
INTERRUPTED = 130  # 128 + SIGINT
PIPE_CLOSED = 141  # 128 + SIGPIPE
_ARGUMENT = re.compile(r"(?<![\w.])(?<!\w\()([a-z][a-z_]*)=(\.\.\.|\[\.\.\.\]|True|\"[^\"]*\"|[\w.]+)?(?![\w(])")


def guarded(command: Callable[[], int], options: Collection[str] = ()) -> int:
    """Run a command and tell what went wrong, without a traceback unless RECORDMILL_TRACEBACK is set."""
    try:
        code = command()
        if sys.stdout is not None:  # as it is where the caller closed it
            sys.stdout.flush()
        return code
    except KeyboardInterrupt:
        note("interrupted")
        return INTERRUPTED
    except BrokenPipeError:
        _drop_output()
        return PIPE_CLOSED
    except Exception as error:  # noqa: BLE001  the last place where anything can be told
        return _tell(error, options)


def _drop_output() -> None:
    """Keep the interpreter from writing to a closed pipe once more when it ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _tell(error: Exception, options: Collection[str]) -> int:
    from recordmill import DamageError, RecordmillError

    expected = isinstance(error, RecordmillError | OSError | ValueError)
    if os.environ.get("RECORDMILL_TRACEBACK") or not expected:
        traceback.print_exception(error)
    for line in _lines(error, options):
        note(line)
    if not expected:
        note("hint: this is a fault of recordmill itself; please report it with the lines above")
    return FAULTS if isinstance(error, DamageError) else COULD_NOT_RUN


def _lines(error: Exception, options: Collection[str]) -> list[str]:
    """Message, place and hint, as `RecordmillError` has them; hints in the words of the command line."""
    if isinstance(error, OSError) and error.strerror and type(error).__str__ is OSError.__str__:
        place = f": {error.filename}" if error.filename is not None else ""
        return [visible(f"error: {error.strerror}{place}")]
    first, *rest = str(error).splitlines() or [type(error).__name__]
    lines = [f"error: {as_options(first, options) if type(error) is ValueError else first}"]
    for line in rest:
        hint = line.strip().startswith("hint:")
        lines.append(as_options(line.strip(), options) if hint else line)
    return [visible(line) for line in lines]


def as_options(text: str, options: Collection[str]) -> str:
    """Write the arguments that a text names as options of the command line."""

    def option(found: re.Match[str]) -> str:
        name, value = found[1].replace("_", "-"), (found[2] or "").strip('"')
        words = f"--no-{name}" if value in ("None", "False") else f"--{name}"
        if words not in options:
            return found[0]
        return words if value in ("", "True", "None", "False", "...", "[...]") else f"{words} {value}"

    return _ARGUMENT.sub(option, text)
