"""``mx.gluon.utils``: split a batch, one part per device."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from recordmill.compat.mxnet import nd
from recordmill.compat.mxnet.base import absent


def split_data(data: Any, num_slice: int, batch_axis: int = 0, even_split: bool = True) -> list[nd.NDArray]:
    """Split a batch along an axis."""
    length = data.shape[batch_axis]
    if even_split and length % num_slice:
        raise ValueError(f"{length} rows cannot be split evenly into {num_slice} parts; use even_split=False")
    return [nd.wrap(part) for part in np.array_split(np.asarray(data), num_slice, batch_axis)]


def split_and_load(
    data: Any, ctx_list: Sequence[Any], batch_axis: int = 0, even_split: bool = True
) -> list[nd.NDArray]:
    """Split a batch into one part per device; the parts stay in host memory."""
    batch = data if isinstance(data, nd.NDArray) else nd.array(data)
    return [batch] if len(ctx_list) == 1 else split_data(batch, len(ctx_list), batch_axis, even_split)


__all__ = ["split_and_load", "split_data"]
__getattr__ = absent(__name__, {"download": "use urllib.request"}, "train with Keras, PyTorch or JAX")
