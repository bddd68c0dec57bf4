"""``mx.gluon.utils``: split a batch into one part per device."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from recordmill.compat.mxnet import nd
from recordmill.compat.mxnet.base import create_module_getattr


def split_and_load(
    data: Any, ctx_list: Sequence[Any], batch_axis: int = 0, even_split: bool = True
) -> list[nd.NDArray]:
    """Split a batch into one part for each device in `ctx_list`; the parts stay in host memory."""
    batch, count = data if isinstance(data, nd.NDArray) else nd.array(data), len(ctx_list)
    length = batch.shape[batch_axis]
    if even_split and length % count:
        raise ValueError(f"{length} rows cannot be split evenly into {count} parts; use even_split=False")
    return [nd.as_ndarray(part) for part in np.array_split(np.asarray(batch), count, batch_axis)]


__getattr__ = create_module_getattr(
    __name__, {"download": "use urllib.request", "split_data": "use split_and_load"}, "train with Keras, PyTorch or JAX"
)
