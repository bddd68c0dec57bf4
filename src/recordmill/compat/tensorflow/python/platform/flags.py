"""``tensorflow.python.platform.flags``: the functions and classes of ``absl.flags``."""

from typing import Any

from recordmill.compat.tensorflow import app


def __getattr__(name: str) -> Any:
    return getattr(app.flags, name)
