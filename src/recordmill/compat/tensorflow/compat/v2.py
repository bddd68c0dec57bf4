"""``tf.compat.v2``: all names of ``tf``."""

from __future__ import annotations

import importlib
from typing import Any


def __getattr__(name: str) -> Any:
    return getattr(importlib.import_module("recordmill.compat.tensorflow"), name)


def __dir__() -> list[str]:
    return dir(importlib.import_module("recordmill.compat.tensorflow"))
