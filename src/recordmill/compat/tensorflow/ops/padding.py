"""``tf.pad``."""

from __future__ import annotations

from typing import Any

import numpy as np

from recordmill.compat.tensorflow.core.arrays import array_of
from recordmill.compat.tensorflow.core.dispatch import op
from recordmill.compat.tensorflow.core.errors import InvalidArgumentError
from recordmill.compat.tensorflow.core.tensor import Tensor, wrap
from recordmill.compat.tensorflow.ops.matching import bracketed

_MODES = {"CONSTANT": "constant", "REFLECT": "reflect", "SYMMETRIC": "symmetric"}


@op("array.pad")
def pad(tensor: Any, paddings: Any, mode: str = "CONSTANT", constant_values: Any = 0) -> Tensor:
    """Make a tensor longer at the ends of its axes."""
    array, widths = array_of(tensor), array_of(paddings).astype(np.int64)
    name = str(mode).upper()
    if name not in _MODES:
        raise ValueError(
            'Value of argument `mode` expected to be one of "CONSTANT", "REFLECT", or "SYMMETRIC". '
            f"Received `mode` = {mode}"
        )
    if widths.shape != (array.ndim, 2):
        raise InvalidArgumentError(
            f"The first dimension of paddings must be the rank of inputs{bracketed(widths.shape)} "
            f"{bracketed(array.shape)} [Op:Pad]"
        )
    before, after = next((pair for pair in widths.tolist() if min(pair) < 0), (0, 0))
    if min(before, after) < 0:
        raise InvalidArgumentError(f"Paddings must be non-negative: {before} {after} [Op:Pad]")
    if name == "CONSTANT":
        kind, number = array.dtype.kind, isinstance(constant_values, int)
        filling: Any = (
            b"" if kind == "O" and number else False if kind == "b" and number and not constant_values else None
        )
        if filling is None:
            filling = array_of(constant_values, array.dtype)[()]
        return wrap(np.pad(array, widths, constant_values=filling))
    for at, (before, after) in enumerate(widths):
        limit = array.shape[at] - (name == "REFLECT")
        if max(before, after) > limit:
            raise InvalidArgumentError(
                f"paddings must be {'less than' if name == 'REFLECT' else 'no greater than'} the dimension size: "
                f"{before}, {after} {'not less than' if name == 'REFLECT' else 'greater than'} {array.shape[at]} "
                "[Op:MirrorPad]"
            )
    return wrap(np.pad(array, widths, _MODES[name]))  # type: ignore[call-overload]
