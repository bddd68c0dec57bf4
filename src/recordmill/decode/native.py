"""Decode a batch of images with the native module; files that it does not support are decoded with Pillow.

A row that fails is reported in the returned errors, and its part of the output is undefined. Rows do not depend on each
other or on the number of threads.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from recordmill import _core
from recordmill.decode.columns import convert_for_native_call, take_payloads
from recordmill.decode.native_image import DAMAGE, Parts, image_error, image_to_array
from recordmill.decode.options import DecodeOptions
from recordmill.decode.plan import ImagePlan, MaskPlan, native_options
from recordmill.errors import MissingExtraError

Ints = NDArray[np.int64]
RowErrors = dict[int, Exception]
Refused = list[tuple[int, Parts]]

_DAMAGE_HINT = 'decoder="pillow" uses Pillow, which accepts some damaged files'


@dataclass(frozen=True, eq=False, slots=True)
class Headers:
    """Sizes, orientations and channels of n encoded images, read from their headers.

    Parameters
    ----------
    table : ndarray of int64, shape (n, 7)
        One row per image; the properties name the columns. Zeros for images that cannot be read.
    """

    table: Ints

    def __len__(self) -> int:
        """Return the number of images."""
        return len(self.table)

    def __getitem__(self, rows: Any) -> Headers:
        """Return the headers of the selected images."""
        return Headers(self.table[rows])

    @property
    def sizes(self) -> Ints:
        """Width and height of the upright images, shape (n, 2)."""
        return self.table[:, 0:2]

    @property
    def decoded_sizes(self) -> Ints:
        """Width and height of the upright images after decoding at a full or reduced size, shape (n, 2)."""
        return self.table[:, 2:4]

    @property
    def orientations(self) -> Ints:
        """EXIF orientation of each image, 1 to 8; always 1 if the EXIF orientation is ignored."""
        return self.table[:, 4]

    @property
    def channels(self) -> Ints:
        """Number of channels of each stored image, 1 to 4."""
        return self.table[:, 5]

    @property
    def is_scalable(self) -> Ints:
        """1 for images that can be decoded at a half, a quarter or an eighth of their size, else 0."""
        return self.table[:, 6]


def read_headers(
    payloads: Sequence[Any], options: DecodeOptions, *, upright: bool, max_pixels: int, decoder: str
) -> tuple[Headers, RowErrors]:
    """Read the headers of encoded images; return the headers and a dict {row: error}."""
    if decoder == "pillow":
        table, errors = _load_pillow(decoder).read_headers(payloads, options, upright=upright, max_pixels=max_pixels)
        return Headers(table), errors
    native = convert_for_native_call(payloads)
    numbers, refused = _core.image_headers(native, native_options(options, max_pixels), upright)
    table = np.asarray(numbers).reshape(-1, 7)
    if not refused:
        return Headers(table), {}

    def decode_rows(rows: Ints) -> RowErrors:
        rest = take_payloads(native, rows)
        rest_table, errors = _load_pillow(decoder).read_headers(rest, options, upright=upright, max_pixels=max_pixels)
        table[rows] = rest_table
        return cast("RowErrors", errors)

    return Headers(table), _retry_refused_rows(refused, decode_rows)


def decode_images(plan: ImagePlan, out: Any, threads: int, decoder: str) -> RowErrors:
    """Decode image ``i`` to ``out[i]``, where `out` is an array or a list; return a dict {i: error}."""
    if not len(plan):
        return {}
    if decoder == "pillow":
        return _decode_with_pillow(plan, out, np.arange(len(plan)), threads, decoder)
    dtype = plan.output.dtype
    if isinstance(out, np.ndarray) and out.flags.c_contiguous:
        memory = out.view(np.uint16) if dtype == "float16" else out
        refused = _core.decode_images(plan, dtype, memory.reshape(-1), max(1, threads))
    else:
        results = _core.decode_each_image(plan, dtype, max(1, threads))
        refused = _store_native_results(results, out, lambda image: image_to_array(image, plan.output))
    if not refused:
        return {}
    return _retry_refused_rows(refused, lambda rows: _decode_with_pillow(plan, out, rows, threads, decoder))


def decode_masks(plan: MaskPlan, out: Any, threads: int, decoder: str) -> RowErrors:
    """Decode mask ``i`` to ``out[i]``, where `out` is an array or a list; return a dict {i: error}."""
    if not len(plan):
        return {}
    if decoder == "pillow":
        return _decode_with_pillow(plan, out, np.arange(len(plan)), threads, decoder)
    if isinstance(out, np.ndarray) and out.flags.c_contiguous:
        refused = _core.decode_masks(plan, plan.dtype, out.reshape(-1), max(1, threads))
    else:
        results = _core.decode_each_mask(plan, plan.dtype, max(1, threads))
        refused = _store_native_results(results, out, lambda mask: np.asarray(mask[0]).reshape(mask[1:3]))
    if not refused:
        return {}
    return _retry_refused_rows(refused, lambda rows: _decode_with_pillow(plan, out, rows, threads, decoder))


def _load_pillow(decoder: str) -> Any:
    """Return the module `pillow_batch`. It is imported on first use, because most batches do not need Pillow."""
    if decoder == "native":
        hint = 'use decoder="auto" to decode it with Pillow'
        raise MissingExtraError("no native decoder supports this file", hint=hint)
    from recordmill.decode import pillow_batch
    from recordmill.decode.pillow import import_pillow

    import_pillow()
    return pillow_batch


def _retry_refused_rows(refused: Refused, decode_rows: Callable[[Ints], RowErrors]) -> RowErrors:
    """Decode with Pillow the images that the native module refused; return a dict {row: error}.

    Damaged images, and images for which there was not enough memory, are not decoded again.
    """
    final = DAMAGE | {"out_of_memory"}
    errors: RowErrors = {row: image_error(parts, hint=_DAMAGE_HINT) for row, parts in refused if parts[0] in final}
    rest = [(row, parts) for row, parts in refused if parts[0] not in final]
    if not rest:
        return errors
    rows = np.array([row for row, _ in rest])
    try:
        rest_errors = decode_rows(rows)
    except MissingExtraError as missing:
        return errors | {row: image_error(parts, hint=missing.hint) for row, parts in rest}
    return errors | {int(rows[number]): error for number, error in rest_errors.items()}


def _decode_with_pillow(plan: ImagePlan | MaskPlan, out: Any, rows: Ints, threads: int, decoder: str) -> RowErrors:
    """Decode the given rows of a plan with Pillow; return a dict {position in `rows`: error}."""
    pixels, errors = _load_pillow(decoder).decode_batch(plan[rows], threads)
    for number, row in enumerate(rows.tolist()):
        if number not in errors:
            _store_pixels(out, row, pixels[number])
    return cast("RowErrors", errors)


def _store_native_results(results: Sequence[Any], out: Any, convert: Callable[[Any], NDArray[Any]]) -> Refused:
    """Store natively decoded images in `out`; return (row, native error) of each image that was not decoded."""
    refused = []
    for row, (image, fault) in enumerate(results):
        if image is None:
            refused.append((row, fault))
        else:
            _store_pixels(out, row, convert(image))
    return refused


def _store_pixels(out: Any, row: int, pixels: NDArray[Any]) -> None:
    if isinstance(out, list):
        out[row] = pixels
    else:
        out[row][...] = pixels
