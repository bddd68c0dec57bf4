"""The squares, written once, and equality of what frameworks hold."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.adapters.digits import store

# What PyTorch says of more workers than cores, torchdata's use of old names and Keras's of NumPy, JAX of forks.
QUIET = [
    pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:.*is deprecated, please do not call:UserWarning"),
    pytest.mark.filterwarnings("ignore:This DataLoader will create:UserWarning"),
    pytest.mark.filterwarnings("ignore:os.fork:RuntimeWarning"),
]


@pytest.fixture(scope="session")
def squares(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return store(tmp_path_factory.mktemp("squares"))


def same(left: Any, right: Any) -> bool:
    """Tell whether two nested structures hold equal arrays, of any framework."""
    if isinstance(left, dict):
        return left.keys() == right.keys() and all(same(left[key], right[key]) for key in left)
    if isinstance(left, list | tuple):
        return len(left) == len(right) and all(same(one, two) for one, two in zip(left, right, strict=True))
    return bool(np.array_equal(np.asarray(left), np.asarray(right)))
