"""``tf.ragged.boolean_mask``: values for which a mask holds, row by row."""

from __future__ import annotations

from typing import Any

import numpy as np

from recordmill.compat.tensorflow.core import row_splits as parts
from recordmill.compat.tensorflow.core.arrays import array_of
from recordmill.compat.tensorflow.core.dispatch import op, run
from recordmill.compat.tensorflow.core.errors import InvalidArgumentError
from recordmill.compat.tensorflow.core.ragged import RaggedTensor, from_tensor
from recordmill.compat.tensorflow.core.tensor import Tensor


@op("ragged.boolean_mask")
def boolean_mask(data: Any, mask: Any) -> Any:
    """Keep the values for which a mask holds, in their rows."""
    if not isinstance(mask, RaggedTensor):
        chosen = array_of(mask, "bool")
        if chosen.ndim == 1:
            return run("array.gather", data, np.flatnonzero(chosen))
        mask = from_tensor(Tensor(chosen), None, None, chosen.ndim - 1)
    if mask.flat_values.ndim > 1:
        mask = _deeper(mask)
    rows = data if isinstance(data, RaggedTensor) else from_tensor(data, None, None, mask.ragged_rank)
    splits = mask.row_splits.values
    if not np.array_equal(splits, rows.row_splits.values):
        raise InvalidArgumentError("Inputs must have identical ragged splits")
    if isinstance(mask.values, RaggedTensor):
        inner = boolean_mask(rows.values, mask.values)
        return RaggedTensor(inner, rows.row_splits.values)
    kept = mask.values.values
    counts = np.bincount(parts.positions([splits])[0][kept], minlength=len(rows)).astype(splits.dtype)
    return RaggedTensor(run("array.gather", rows.values, np.flatnonzero(kept)), parts.from_lengths(counts))


def _deeper(mask: RaggedTensor) -> RaggedTensor:
    """A mask whose innermost axes are ragged, too."""
    inner = mask.values
    if isinstance(inner, RaggedTensor):
        return mask.with_values(_deeper(inner))
    return mask.with_values(from_tensor(inner, None, None, inner.ndim - 1, mask.row_splits.dtype))


@op("ragged.row_splits_to_segment_ids")
def row_splits_to_segment_ids(splits: Any, name: Any = None, out_type: Any = None) -> Tensor:
    """Number of the row of each value."""
    del name
    given = parts.from_splits(array_of(splits, None if isinstance(splits, Tensor) else "int64"))
    dtype = given.dtype if out_type is None else array_of(0, out_type).dtype
    return Tensor(parts.positions([given])[0].astype(dtype))


@op("ragged.segment_ids_to_row_splits")
def segment_ids_to_row_splits(segment_ids: Any, num_segments: Any = None, out_type: Any = None) -> Tensor:
    """Where the rows of numbered values begin and end."""
    given = array_of(segment_ids, None if isinstance(segment_ids, Tensor) else "int64")
    splits = parts.from_rowids(given, None if num_segments is None else int(num_segments))
    return Tensor(splits.astype(splits.dtype if out_type is None else array_of(0, out_type).dtype))
