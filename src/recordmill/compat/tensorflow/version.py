"""``tf.version``: which TensorFlow's names and semantics these are."""

from __future__ import annotations

VERSION = "2.21.0"
GIT_VERSION = "recordmill"
COMPILER_VERSION = ""
