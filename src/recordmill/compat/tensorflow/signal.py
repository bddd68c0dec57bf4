"""``tf.signal``: short-time Fourier transforms."""

from __future__ import annotations

from recordmill.compat.tensorflow.core.lazy import lazy, map_names

MEMBERS = map_names(
    {
        "@signal": "hann_window stft",
    }
)
__getattr__, __dir__ = lazy(__name__, MEMBERS)
