"""Multi-line descriptions of datasets and loaders, for `print`."""

from __future__ import annotations

from collections.abc import Sized
from textwrap import indent
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from recordmill.pipeline.dataset import Dataset


def describe_dataset(dataset: Dataset) -> str:
    """Return the number of elements, the origin and the stages, one line each, and the features of the records."""
    noun = "samples" if dataset.batch_stage is None else "batches"
    chain = [repr(dataset.origin), *(f"  .{stage!r}" for stage in dataset.stages)]
    lines = [f"Dataset of {count_elements(dataset)} {noun}", indent("\n".join(chain), "  ")]
    if len(dataset.schema):
        lines += ["features of the records:", indent(str(dataset.schema), "  ")]
    return "\n".join(lines)


def count_elements(elements: Sized) -> str:
    """Return the number of elements as text, or a phrase such as "an unknown number of" for a dataset with a filter."""
    try:
        return f"{len(elements):,}"
    except TypeError as error:
        return "endlessly many" if "endless" in str(error) else "an unknown number of"
