"""``tf.autograph``: no function is converted, because all functions run as Python."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from recordmill.compat.tensorflow.core.absent import make_absent_getattr

__all__ = ["do_not_convert", "experimental"]
__getattr__ = make_absent_getattr(__name__)

experimental = sys.modules[__name__]


def do_not_convert(func: Callable[..., Any] | None = None) -> Any:
    """``tf.autograph.experimental.do_not_convert``: return the function unchanged."""
    return (lambda function: function) if func is None else func
