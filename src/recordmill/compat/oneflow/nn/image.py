"""OneFlow's modules for pictures, under their short names."""

from recordmill.compat.oneflow import pictures
from recordmill.compat.oneflow.resizing import Resize

decode = pictures.ImageDecode

__all__ = ["Resize", "decode"]
