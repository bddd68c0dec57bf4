"""``tf.data.experimental.from_list``: elements that a program has in a list."""

from __future__ import annotations

from typing import Any

from recordmill.compat.tensorflow.data.dataset import Dataset
from recordmill.compat.tensorflow.data.nesting import Values
from recordmill.compat.tensorflow.data.specs import common, spec_of
from recordmill.compat.tensorflow.data.structures import to_tensors


def from_list(elements: list[Any], name: str | None = None) -> Any:
    """Elements that are in a list; their lengths may differ."""
    del name
    if not isinstance(elements, list):
        raise ValueError("Invalid `elements`. `elements` must be a list.")  # noqa: TRY004 (TensorFlow's class)
    if not elements:
        raise ValueError(
            "Invalid `elements`. `elements` should not be empty. If you want an empty dataset, use "
            "`tf.data.Dataset.range(0)`."
        )
    values = [to_tensors(one) for one in elements]
    spec = spec_of(values[0])
    for value in values[1:]:
        spec = common(spec, spec_of(value))
    return Dataset(Values(values, spec))
