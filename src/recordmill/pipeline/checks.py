"""What several stages ask of their arguments."""

from __future__ import annotations

from typing import Any

import numpy as np


def is_whole(value: Any, least: int = 0, stop: int | None = None) -> bool:
    """Whether something is a whole number in a range; True and False are none.

    Parameters
    ----------
    value : object
    least : int
    stop : int, optional

    Returns
    -------
    bool
    """
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        return False
    return bool(value >= least and (stop is None or value < stop))
