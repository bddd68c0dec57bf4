"""``tf.signal``: what sound pipelines use of it."""

from __future__ import annotations

from recordmill.compat.tensorflow.core.lazy import lazy
from recordmill.compat.tensorflow.ops.names import table

# module: the names that come from it
MEMBERS = table(
    {
        "ops.mels": "dct linear_to_mel_weight_matrix mfccs_from_log_mel_spectrograms",
        "ops.signals": "fft frame hamming_window hann_window ifft irfft overlap_and_add rfft stft",
    }
)
__getattr__, __dir__ = lazy(__name__, MEMBERS)
