"""Convert exceptions to messages on standard error and to exit codes."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Collection, Iterator
from types import FrameType
from typing import Any

from recordmill.cli.printer import escape_unprintable, print_note

OK, FAULTS, COULD_NOT_RUN = 0, 1, 2
SIGNALED = 128  # The exit code is this number plus the number of the signal that ended the command.
INTERRUPTED = SIGNALED + signal.SIGINT
PIPE_CLOSED = SIGNALED + signal.SIGPIPE
# Matches a Python argument in a hint, such as overwrite=True, encode=... or format="recordio". The first argument of a
# call, as in Image(resize=224), does not match.
_ARGUMENT = re.compile(r"(?<![\w.])(?<!\w\()([a-z][a-z_]*)=(\.\.\.|\[\.\.\.\]|True|\"[^\"]*\"|[\w.]+)?(?![\w(])")


class _TerminatedError(BaseException):
    """Raised on SIGTERM or SIGHUP. A BaseException, so that it causes the same cleanup as Ctrl-C."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


@contextlib.contextmanager
def _handle_termination() -> Iterator[None]:
    """Raise _TerminatedError in the main thread when the process receives SIGTERM or SIGHUP.

    A signal that is ignored, such as SIGHUP under nohup, stays ignored. A signal that already has a handler keeps it.
    """
    is_main = threading.current_thread() is threading.main_thread()
    numbers = [number for number in (signal.SIGTERM, signal.SIGHUP) if signal.getsignal(number) is signal.SIG_DFL]

    def raise_terminated(number: int, frame: FrameType | None) -> None:
        del frame
        # Ignore further signals, so that they do not interrupt the cleanup. The handler is a function, because Python
        # would warn about pending signals if the handler were SIG_IGN.
        set_signal_handlers(lambda *_: None)
        raise _TerminatedError(number)

    def set_signal_handlers(handler: Any) -> None:
        for number in numbers if is_main else ():
            signal.signal(number, handler)

    set_signal_handlers(raise_terminated)
    try:
        yield
    finally:
        set_signal_handlers(signal.SIG_DFL)


def run_command(command: Callable[[], int], options: Collection[str] = ()) -> int:
    """Run a command and return its exit code; print errors without a traceback unless RECORDMILL_TRACEBACK is set."""
    try:
        with _handle_termination():
            code = command()
            if sys.stdout is not None:  # sys.stdout is None if the process has no standard output.
                sys.stdout.flush()
        return code
    except KeyboardInterrupt:
        print_note("interrupted")
        return INTERRUPTED
    except _TerminatedError as error:
        print_note(f"terminated by {signal.Signals(error.number).name}")
        return SIGNALED + error.number
    except BrokenPipeError:
        _discard_output()
        return PIPE_CLOSED
    except Exception as error:  # noqa: BLE001 (reported to the user)
        return _print_error(error, options)


def _discard_output() -> None:
    """Redirect standard output to the null device, so that the flush at interpreter exit does not fail again."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _print_error(error: Exception, options: Collection[str]) -> int:
    from recordmill import DamageError, RecordmillError

    is_expected = isinstance(error, RecordmillError | OSError | ValueError)
    if os.environ.get("RECORDMILL_TRACEBACK") or not is_expected:
        traceback.print_exception(error)
    for line in _format_error(error, options):
        print_note(line)
    if not is_expected:
        print_note("hint: this is a bug in recordmill; please report it with the lines above")
    return FAULTS if isinstance(error, DamageError) else COULD_NOT_RUN


def _format_error(error: Exception, options: Collection[str]) -> list[str]:
    """Return the message, location and hint of an error, one line each; hints name options, not Python arguments."""
    if isinstance(error, OSError) and error.strerror and type(error).__str__ is OSError.__str__:
        path = f": {error.filename}" if error.filename is not None else ""
        return [escape_unprintable(f"error: {error.strerror}{path}")]
    first, *rest = str(error).splitlines() or [type(error).__name__]
    lines = [f"error: {arguments_to_options(first, options) if type(error) is ValueError else first}"]
    for line in rest:
        is_hint = line.strip().startswith("hint:")
        lines.append(arguments_to_options(line.strip(), options) if is_hint else line)
    return [escape_unprintable(line) for line in lines]


def arguments_to_options(text: str, options: Collection[str]) -> str:
    """Replace Python arguments in a text, such as ``overwrite=True``, with options of the command."""

    def argument_to_option(match: re.Match[str]) -> str:
        name, value = match[1].replace("_", "-"), (match[2] or "").strip('"')
        option = f"--no-{name}" if value in ("None", "False") else f"--{name}"
        if option not in options:
            return match[0]
        return option if value in ("", "True", "None", "False", "...", "[...]") else f"{option} {value}"

    return _ARGUMENT.sub(argument_to_option, text)
