"""``tf.experimental``: what pipelines use of it."""

from __future__ import annotations

from recordmill.compat.tensorflow.core.lazy import lazy

# name: the module that has it
MEMBERS: dict[str, str] = {}
__getattr__, __dir__ = lazy(__name__, MEMBERS)
