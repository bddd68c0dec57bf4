"""``tf.io``: record files, features of records, images, and whole files."""

from __future__ import annotations

from recordmill.compat.tensorflow.core.lazy import lazy

# name: the module that has it
MEMBERS: dict[str, str] = {
    # records and features
    # images
}
__getattr__, __dir__ = lazy(__name__, MEMBERS)
