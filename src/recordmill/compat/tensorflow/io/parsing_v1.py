"""TensorFlow 1's ``tf.parse_example`` and ``tf.parse_single_example``: names of examples come last."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from recordmill.compat.tensorflow.io import parsing


def parse_example(serialized: Any, features: Mapping[str, Any], name: Any = None, example_names: Any = None) -> Any:
    """Parse a batch of records; as ``tf.io.parse_example``."""
    del name
    return parsing.parse_example(serialized, features, *([] if example_names is None else [example_names]))


def parse_single_example(
    serialized: Any, features: Mapping[str, Any], name: Any = None, example_names: Any = None
) -> Any:
    """Parse one record; as ``tf.io.parse_single_example``."""
    del name
    # Without names the call is the one that pipelines make for whole batches.
    return parsing.parse_single_example(serialized, features, *([] if example_names is None else [example_names]))
