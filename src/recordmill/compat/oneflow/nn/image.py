"""OneFlow's modules for pictures, under their short names."""

from recordmill.compat.oneflow import image_decoders
from recordmill.compat.oneflow.absent import absent
from recordmill.compat.oneflow.resize import Resize

__getattr__ = absent("flow.nn.image")

decode = image_decoders.ImageDecode

__all__ = ["Resize", "decode"]
