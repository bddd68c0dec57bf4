"""``tf.logging`` and ``tf.compat.v1.logging``: the logger "tensorflow"."""

from __future__ import annotations

import collections
import logging
import sys
from logging import DEBUG, ERROR, FATAL, INFO, WARN
from typing import Any

from recordmill.compat.tensorflow.core.absent import make_absent_getattr

__all__ = ["DEBUG", "ERROR", "FATAL", "INFO", "WARN"]
__getattr__ = make_absent_getattr(__name__)
_LOGGER = logging.getLogger("tensorflow")
# Maps (file name, line number) to the number of `log_every_n` calls from that line.
_CALLS: collections.Counter[tuple[str, int]] = collections.Counter()
debug, info, warn, warning = _LOGGER.debug, _LOGGER.info, _LOGGER.warning, _LOGGER.warning
error, fatal, log = _LOGGER.error, _LOGGER.critical, _LOGGER.log


def get_logger() -> logging.Logger:
    """``tf.get_logger``: return the logger "tensorflow"."""
    return _LOGGER


def get_verbosity() -> int:
    """Return the level of the logger."""
    return _LOGGER.getEffectiveLevel()


def set_verbosity(v: int | str) -> None:
    """Set the level of the logger."""
    _LOGGER.setLevel(v)


def log_every_n(level: int, msg: str, n: int, *args: Any) -> None:
    """Log the first of every `n` calls from the same line."""
    caller = sys._getframe(1)
    line = caller.f_code.co_filename, caller.f_lineno
    if _CALLS[line] % n == 0:
        _LOGGER.log(level, msg, *args)
    _CALLS[line] += 1
