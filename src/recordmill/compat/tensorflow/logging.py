"""``tf.logging`` and ``tf.compat.v1.logging``: messages of the logger that is called tensorflow."""

from __future__ import annotations

import logging
from logging import DEBUG, ERROR, FATAL, INFO, WARN

from recordmill.compat.tensorflow.core.absent import missing

__all__ = [
    "DEBUG",
    "ERROR",
    "FATAL",
    "INFO",
    "WARN",
    "debug",
    "error",
    "fatal",
    "get_logger",
    "get_verbosity",
    "info",
    "log",
    "set_verbosity",
    "warn",
    "warning",
]
__getattr__ = missing(__name__)
_LOGGER = logging.getLogger("tensorflow")
debug, info, warn, warning = _LOGGER.debug, _LOGGER.info, _LOGGER.warning, _LOGGER.warning
error, fatal, log = _LOGGER.error, _LOGGER.critical, _LOGGER.log


def get_logger() -> logging.Logger:
    """Logger by which programs set how much is told."""
    return _LOGGER


def get_verbosity() -> int:
    """Level from which messages are told."""
    return _LOGGER.getEffectiveLevel()


def set_verbosity(v: int | str) -> None:
    """Set the level from which messages are told."""
    _LOGGER.setLevel(v)
