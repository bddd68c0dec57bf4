"""Contrast and saturation of Gluon's random colours, whose last bits are nobody's: they take the quickest way."""

from __future__ import annotations

from typing import Any

import numpy as np

from recordmill.compat.mxnet.image import colours
from recordmill.compat.mxnet.nd import wrap

# Weights of red, green and blue in brightness (ITU-R BT.601).
_LUMA = np.array([0.299, 0.587, 0.114], np.float32)


class Contrast(colours.ContrastJitterAug):
    """Move all levels away from the image's mean brightness, or towards it."""

    def __call__(self, src: Any) -> Any:
        """Change the contrast of a float32 image, in place."""
        pixels, alpha = np.asarray(src), self.draw()
        rows = pixels.reshape(-1, pixels.shape[-1])
        sums = np.ones(len(rows), np.float32) @ rows
        mean = (sums @ _LUMA if len(sums) == 3 else sums.mean()) / len(rows)
        pixels *= np.float32(alpha)
        pixels += np.float32((1 - alpha) * mean)
        return src


class Saturation(colours.SaturationJitterAug):
    """Move all colours away from their grey, or towards it; images of one channel stay as they are."""

    def __call__(self, src: Any) -> Any:
        """Change the saturation of a float32 image, in place."""
        alpha = self.draw()
        if src.shape[-1] == 3:
            pixels = np.asarray(src)
            grey = (pixels.reshape(-1, 3) @ (_LUMA * np.float32(1 - alpha))).reshape(*pixels.shape[:-1], 1)
            src *= alpha
            src += wrap(grey)
        return src
