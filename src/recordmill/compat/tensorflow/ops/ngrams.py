"""``tf.strings.ngrams``: runs of neighbouring words, joined."""

from __future__ import annotations

from typing import Any

import numpy as np

from recordmill.compat.tensorflow.core.dispatch import op
from recordmill.compat.tensorflow.core.ragged import RaggedTensor
from recordmill.compat.tensorflow.core.tensor import Tensor
from recordmill.compat.tensorflow.ops.texts import strings_of


@op("strings.ngrams")
def ngrams(
    data: Any,
    ngram_width: Any,
    separator: str = " ",
    pad_values: Any = None,
    padding_width: int | None = None,
    preserve_short_sequences: bool = False,
) -> Any:
    """Join so many neighbouring strings of each row."""
    widths = [ngram_width] if isinstance(ngram_width, int | np.integer) else list(ngram_width)
    if any(width < 1 for width in widths):
        raise ValueError(f"All ngram_widths must be greater than 0. Got {ngram_width}")
    if padding_width is not None and padding_width < 1:
        raise ValueError(f"padding_width must be greater than 0. Got {padding_width}")
    left, right = _padding(pad_values)
    mark = _bytes(separator)

    def joined(row: list[bytes]) -> list[bytes]:
        made = [one for width in widths for one in _joined(row, int(width), mark, (left, right), padding_width)]
        return [mark.join(row)] if not made and preserve_short_sequences and row else made

    if isinstance(data, RaggedTensor):
        return _of_ragged(data, joined)
    array = strings_of(data, "StringNGrams")
    if not array.ndim:
        raise ValueError("Data must have rank>0")
    count = int(np.prod(array.shape[:-1]))
    rows = [joined(row) for row in array.reshape(count, array.shape[-1]).tolist()]
    out = np.empty((count, len(rows[0]) if rows else 0), object)
    for place, row in enumerate(rows):
        out[place] = row
    return Tensor(out.reshape(*array.shape[:-1], out.shape[1]))


def _joined(row: list[bytes], width: int, mark: bytes, pads: tuple[Any, Any], padding: int | None) -> list[bytes]:
    times = width - 1 if padding is None else min(padding, width - 1)
    left, right = pads
    whole = row if left is None else [left] * times + row + [right] * times
    return [mark.join(whole[at : at + width]) for at in range(len(whole) - width + 1)]


def _padding(pad_values: Any) -> tuple[Any, Any]:
    if pad_values is None:
        return None, None
    if isinstance(pad_values, str | bytes):
        return _bytes(pad_values), _bytes(pad_values)
    if not isinstance(pad_values, list | tuple) or len(pad_values) != 2:
        raise TypeError("pad_values must be a string, tuple of strings, or None.")
    return _bytes(pad_values[0]), _bytes(pad_values[1])


def _bytes(text: Any) -> bytes:
    return text.encode() if isinstance(text, str) else bytes(text)


def _of_ragged(data: RaggedTensor, joined: Any) -> RaggedTensor:
    if isinstance(data.values, RaggedTensor):
        return data.with_values(_of_ragged(data.values, joined))
    rows = [joined(row) for row in data.to_list()]
    values = np.empty(sum(map(len, rows)), object)
    values[:] = [one for row in rows for one in row]
    lengths = np.array([len(row) for row in rows], data.row_splits.values.dtype)
    return RaggedTensor.from_row_lengths(Tensor(values), lengths)
