"""``tf.app``: how TensorFlow 1's scripts start, and their flags, which are absl's."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, NoReturn

from recordmill.compat.tensorflow.core.absent import absent

__all__ = ["run"]


def run(main: Callable[..., Any] | None = None, argv: list[str] | None = None) -> NoReturn:
    """Call a script's ``main`` with the command line, and end the process."""
    given = sys.argv if argv is None else argv
    if "absl.flags" in sys.modules:
        flags = sys.modules["absl.flags"].FLAGS
        given = flags(given) if not flags.is_parsed() else given[:1]
    sys.exit((main or sys.modules["__main__"].main)(given))


def __getattr__(name: str) -> Any:
    """Flags, where absl is installed."""
    if name != "flags":
        raise absent(__name__, "app", name)
    try:
        from absl import flags
    except ImportError:
        raise AttributeError("tf.app.flags needs absl: pip install absl-py, or use argparse", name=name) from None
    return flags
