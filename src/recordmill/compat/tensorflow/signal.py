"""``tf.signal``: what sound pipelines use of it."""

from __future__ import annotations

from recordmill.compat.tensorflow.core.lazy import lazy
from recordmill.compat.tensorflow.ops.names import table

# module: the names that come from it
MEMBERS = table(
    {
        "ops.inverse_signals": "fft2d fft3d fftshift ifft2d ifft3d ifftshift inverse_stft inverse_stft_window_fn "
        "irfft2d kaiser_window rfft2d vorbis_window",
        "ops.mels": "dct idct linear_to_mel_weight_matrix mfccs_from_log_mel_spectrograms",
        "ops.signals": "fft frame hamming_window hann_window ifft irfft overlap_and_add rfft stft",
    }
)
__getattr__, __dir__ = lazy(__name__, MEMBERS)
