"""``tf.signal``: short-time Fourier transforms."""

from __future__ import annotations

from recordmill.compat.tensorflow.core.lazy import make_lazy_attributes, map_names_to_sources

MEMBERS = map_names_to_sources(
    {
        "@signal": "hann_window stft",
    }
)
__getattr__, __dir__ = make_lazy_attributes(__name__, MEMBERS)
