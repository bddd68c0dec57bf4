"""OneFlow's modules for pictures, under their short names."""

from recordmill.compat.oneflow import pictures
from recordmill.compat.oneflow.absent import absent
from recordmill.compat.oneflow.resizing import Resize

__getattr__ = absent("flow.nn.image")

decode = pictures.ImageDecode

__all__ = ["Resize", "decode"]
