"""``Hashing`` for pipelines: values as numbers below a bound."""

from __future__ import annotations

from typing import Any

from recordmill.compat.tensorflow.core.dispatch import run
from recordmill.compat.tensorflow.core.dtypes import float32, int64, string
from recordmill.compat.tensorflow.core.ragged import RaggedTensor
from recordmill.compat.tensorflow.keras.encoding import encoded
from recordmill.compat.tensorflow.keras.tokens import refuse_options


class Hashing:
    """Values as numbers below a bound, by a hash."""

    def __init__(
        self, num_bins: int, mask_value: Any = None, salt: Any = None, output_mode: str = "int", **options: Any
    ) -> None:
        refuse_options("Hashing", options)
        if not num_bins or num_bins <= 0:
            raise ValueError(f"The `num_bins` for `Hashing` cannot be `None` or non-positive. Received: {num_bins}.")
        self._bins, self._mask, self._mode = num_bins, mask_value, output_mode
        self._salt = [salt, salt] if isinstance(salt, int) else salt

    def __call__(self, inputs: Any) -> Any:
        """Numbers of values."""
        values = inputs if isinstance(inputs, RaggedTensor) else run("array.convert_to_tensor", inputs)
        texts = values if values.dtype == string else run("strings.as_string", values)
        bins = self._bins - (self._mask is not None)
        keyed = ("strings.to_hash_bucket_strong", texts, bins, self._salt)
        found = run("strings.to_hash_bucket_fast", texts, bins) if self._salt is None else run(*keyed)
        if self._mask is not None:
            masked = run("math.equal", values, self._mask)
            found = run("array.where", masked, run("array.zeros_like", found), run("math.add", found, 1))
        if self._mode == "int":
            return run("array.cast", found, int64)
        return run("array.cast", encoded(found, self._mode, self._bins), float32)
