"""``tf.strided_slice``: what Python's square brackets say, in numbers."""

from __future__ import annotations

from typing import Any

from recordmill.compat.tensorflow.core.arrays import array_of
from recordmill.compat.tensorflow.core.dispatch import op, run
from recordmill.compat.tensorflow.core.tensor import Tensor
from recordmill.compat.tensorflow.ops.matching import as_ints


@op("array.strided_slice")
def strided_slice(
    input_: Any,
    begin: Any,
    end: Any,
    strides: Any = None,
    begin_mask: int = 0,
    end_mask: int = 0,
    ellipsis_mask: int = 0,
    new_axis_mask: int = 0,
    shrink_axis_mask: int = 0,
    var: Any = None,
) -> Tensor:
    """Part of a tensor."""
    if var is not None:
        raise NotImplementedError("strided_slice(var=...) is not supported: there are no variables of graphs")
    starts, ends = as_ints(begin, "Index", "StridedSlice"), as_ints(end, "Index", "StridedSlice")
    steps = [1] * len(starts) if strides is None else as_ints(strides, "Index", "StridedSlice")
    keys: list[Any] = []
    for place, (start, stop, step) in enumerate(zip(starts, ends, steps, strict=True)):
        bit = 1 << place
        if ellipsis_mask & bit:
            keys.append(Ellipsis)
        elif new_axis_mask & bit:
            keys.append(None)
        elif shrink_axis_mask & bit:
            keys.append(int(start))
        else:
            keys.append(slice(None if begin_mask & bit else start, None if end_mask & bit else stop, step))
    found: Tensor = run("array.getitem", Tensor(array_of(input_)), tuple(keys))
    return found
