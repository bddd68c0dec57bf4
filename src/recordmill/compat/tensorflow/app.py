"""``tf.app`` of TensorFlow 1: run a script's ``main`` function, with absl's flags."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, NoReturn

from recordmill.compat.tensorflow.core.absent import absent_error


def run(main: Callable[..., Any] | None = None, argv: list[str] | None = None) -> NoReturn:
    """``tf.app.run``: parse absl's flags, call the script's ``main`` with the other arguments, and exit."""
    arguments = sys.argv if argv is None else argv
    if "absl.flags" in sys.modules:
        flags = sys.modules["absl.flags"].FLAGS
        arguments = flags(arguments) if not flags.is_parsed() else arguments[:1]
    sys.exit((main or sys.modules["__main__"].main)(arguments))


def __getattr__(name: str) -> Any:
    """Return ``absl.flags`` for ``tf.app.flags``."""
    if name != "flags":
        raise absent_error(__name__, "app", name)
    try:
        from absl import flags
    except ImportError:
        raise AttributeError(
            "tf.app.flags requires absl; run `pip install absl-py`, or use argparse", name=name
        ) from None
    return flags
