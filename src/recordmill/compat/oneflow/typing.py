"""``oneflow.typing``: what the functions of OneFlow's older programs say that they give."""

from __future__ import annotations

import numpy as np

Numpy = np.ndarray
ListNumpy = list
ListListNumpy = list
