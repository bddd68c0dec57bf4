"""``tf.math.confusion_matrix``: how often each label was taken for each other."""

from __future__ import annotations

from typing import Any

import numpy as np

from recordmill.compat.tensorflow.core.arrays import array_of
from recordmill.compat.tensorflow.core.dispatch import op
from recordmill.compat.tensorflow.core.dtypes import as_dtype, int32
from recordmill.compat.tensorflow.core.errors import InvalidArgumentError
from recordmill.compat.tensorflow.core.tensor import Tensor


@op("math.confusion_matrix")
def confusion_matrix(
    labels: Any, predictions: Any, num_classes: int | None = None, weights: Any = None, dtype: Any = int32
) -> Tensor:
    """Count pairs of label and prediction."""
    rows, columns = (array_of(one).astype(np.int64).ravel() for one in (labels, predictions))
    both = np.concatenate([rows, columns])
    count = int(both.max(initial=-1)) + 1 if num_classes is None else int(num_classes)
    for name, given in (("labels", rows), ("predictions", columns)):
        if (given < 0).any():
            raise InvalidArgumentError(f"`{name}` contains negative values")
        if (given >= count).any():
            raise InvalidArgumentError(f"`{name}` out of bound")
    found = np.zeros((count, count), as_dtype(dtype).numpy_dtype)
    np.add.at(found, (rows, columns), 1 if weights is None else array_of(weights).ravel().astype(found.dtype))
    return Tensor(found)
