"""Elements that are rows of ragged tensors: each row is dense, but a batch of rows is ragged."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from numpy.typing import NDArray

from recordmill.compat.tensorflow.core.ragged import RaggedTensor, stack_ragged_rows
from recordmill.compat.tensorflow.core.tensor import Tensor
from recordmill.compat.tensorflow.ops.specs import RaggedTensorSpec


class RaggedRow(Tensor):
    """Dense row of a ragged tensor. A batch of rows is ragged, because row lengths may differ."""

    __slots__ = ("splits_dtype",)

    def __init__(self, values: NDArray[Any], splits_dtype: Any) -> None:
        super().__init__(values)
        self.splits_dtype = splits_dtype

    @property
    def row_spec(self) -> RaggedTensorSpec:
        """Spec that matches every row of the ragged tensor."""
        return RaggedTensorSpec([None, *self.values.shape[1:]], self.dtype, 0, self.splits_dtype)

    def __reduce__(self) -> tuple[Any, ...]:
        return RaggedRow, (self.values, self.splits_dtype)


def take_ragged_row(ragged: RaggedTensor, position: int) -> RaggedRow | RaggedTensor:
    """Return one row of a ragged tensor."""
    row = ragged[position]
    return row if isinstance(row, RaggedTensor) else RaggedRow(row.values, ragged.row_splits.values.dtype)


def stack_ragged(rows: Sequence[Any]) -> RaggedTensor:
    """Combine rows into a ragged tensor."""
    first = rows[0]
    return stack_ragged_rows(
        rows, first.splits_dtype if isinstance(first, RaggedRow) else first.row_splits.values.dtype
    )
