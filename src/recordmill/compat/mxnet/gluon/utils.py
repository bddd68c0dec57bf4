"""``mx.gluon.utils``: a batch in parts, one for each device."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from recordmill.compat.mxnet import nd
from recordmill.compat.mxnet.absent import absent


def split_data(data: Any, num_slice: int, batch_axis: int = 0, even_split: bool = True) -> list[nd.NDArray]:
    """Parts of a batch."""
    length = data.shape[batch_axis]
    if even_split and length % num_slice:
        raise ValueError(
            f"data with shape {data.shape} cannot be evenly split into {num_slice} slices along axis {batch_axis}. "
            f"Use a batch size that's multiple of {num_slice} or set even_split=False to allow uneven partitioning of "
            "data."
        )
    parts = np.array_split(np.asarray(data), num_slice, batch_axis)
    return [nd.wrap(part) for part in parts]


def split_and_load(
    data: Any, ctx_list: Sequence[Any], batch_axis: int = 0, even_split: bool = True
) -> list[nd.NDArray]:
    """Parts of a batch, one for each device; they stay in the memory of the host."""
    batch = data if isinstance(data, nd.NDArray) else nd.array(data)
    return [batch] if len(ctx_list) == 1 else split_data(batch, len(ctx_list), batch_axis, even_split)


__all__ = ["split_and_load", "split_data"]
__getattr__ = absent(__name__, {"download": "use urllib.request"}, "train with Keras, PyTorch or JAX: see the guides")
