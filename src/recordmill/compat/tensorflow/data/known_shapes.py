"""What TensorFlow's graphs compute otherwise where they know the shape of an image."""

from __future__ import annotations

from typing import Any

import numpy as np


def told(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Arguments of a call that say whether shapes were known when it was noted.

    Parameters
    ----------
    name : str
        Of the operation.
    args : tuple
    kwargs : dict

    Returns
    -------
    tuple
        Positional and named arguments. A fraction of an image of known size has 64 bits; of others it is a number of
        Python's, which graphs take with 32 bits.
    """
    if name != "image.central_crop" or len(args) + len(kwargs) != 2:
        return args, kwargs
    image = args[0] if args else kwargs.get("image")
    fraction = args[1] if len(args) > 1 else kwargs.get("central_fraction")
    spec = getattr(image, "spec", None)
    if spec is None or not spec.shape.rank or None in spec.shape.as_list()[-3:-1] or not isinstance(fraction, float):
        return args, kwargs
    return (image, np.float64(fraction)), {}
