"""Shards of squares, and comparison of arrays of any framework."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.adapters.squares import write_shards

# PyTorch warns about more workers than cores, JAX about forks; torchdata and Keras use deprecated names.
IGNORED_WARNINGS = [
    pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:.*is deprecated, please do not call:UserWarning"),
    pytest.mark.filterwarnings("ignore:This DataLoader will create:UserWarning"),
    pytest.mark.filterwarnings("ignore:os.fork:RuntimeWarning"),
]


@pytest.fixture(scope="session")
def squares(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_shards(tmp_path_factory.mktemp("squares"))


def equal(left: Any, right: Any) -> bool:
    """Return whether two nested structures have the same keys and lengths and equal arrays of any framework."""
    if isinstance(left, dict):
        return left.keys() == right.keys() and all(equal(left[key], right[key]) for key in left)
    if isinstance(left, list | tuple):
        return len(left) == len(right) and all(equal(one, two) for one, two in zip(left, right, strict=True))
    return bool(np.array_equal(np.asarray(left), np.asarray(right)))
