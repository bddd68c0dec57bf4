"""Find the images in samples and batches, decoded or encoded, and convert their pixels to 8 bits for display."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recordmill.decode.display import MASK_OPACITY, mask_colors, to_labels, to_levels
from recordmill.decode.signatures import find_image_format
from recordmill.decode.specs.image import Image
from recordmill.decode.specs.mask import Mask
from recordmill.decode.thumbnails import drop_alpha, read_thumbnail
from recordmill.errors import FeatureError, RecordmillError
from recordmill.pipeline.captions import format_caption
from recordmill.types import Ragged

Pixels = NDArray[np.uint8]
Sample = Mapping[str, Any]

_CHANNELS = (1, 3, 4)
# A 2-dimensional array counts as an image only if both sides have at least this many elements.
_MIN_SIDE = 8
# Features with these names count as encoded images even if their bytes are damaged.
_IMAGE_NAMES = ("image", "img", "image/encoded", "encoded")
_MAX_TILES_PER_SAMPLE = 4


@dataclass(frozen=True, eq=False, slots=True)
class Tile:
    """One image of a contact sheet.

    Parameters
    ----------
    content : ndarray of uint8, shape (height, width, 1 or 3), or str
        Pixels, or the message to show in their place.
    caption : str
    """

    content: Pixels | str
    caption: str


@dataclass(frozen=True, eq=False, slots=True)
class TileOptions:
    """Options for the conversion of samples to tiles.

    Parameters
    ----------
    size : int
        Largest width and height of a tile, in pixels.
    classes : sequence of str, optional
        Class names of the labels.
    images : dict of str to Image
        Spec of each decoded image, by feature; only if the pixels were not changed after decoding.
    masks : dict of str to str
        Name of the mask of an image, by the name of the image.
    """

    size: int
    classes: Sequence[str] | None = None
    images: Mapping[str, Image] = field(default_factory=dict)
    masks: Mapping[str, str] = field(default_factory=dict)


def find_masks(specs: Mapping[str, Any]) -> dict[str, str]:
    """Map the name of each image to the name of its mask; omit images without a mask."""
    return {spec.of: name for name, spec in specs.items() if isinstance(spec, Mask) and spec.of is not None}


def create_tiles(samples: Sequence[Sample | RecordmillError], options: TileOptions) -> list[Tile]:
    """Create the tiles of samples. If an element is an error instead of a sample, create a tile with its message.

    Raises
    ------
    FeatureError
        If no sample has an image.
    """
    names = _find_image_features([sample for sample in samples if not isinstance(sample, RecordmillError)])
    tiles: list[Tile] = []
    for sample in samples:
        if isinstance(sample, RecordmillError):
            record = "" if sample.record is None else f"record {sample.record:,}: "
            tiles.append(Tile(f"{record}{sample.message}", ""))
        else:
            tiles += _create_sample_tiles(sample, names, options)
    return tiles


def _find_image_features(samples: Sequence[Sample]) -> list[str]:
    """Return the names of the features whose value is an image in at least one sample."""
    names = dict.fromkeys(name for sample in samples for name, value in sample.items() if is_image(value))
    if not names:
        # Perhaps all images are damaged. Find them by the usual names of image features.
        names = dict.fromkeys(name for name in _IMAGE_NAMES if any(_is_bytes(sample.get(name)) for sample in samples))
    if samples and not names:
        raise FeatureError(
            "the samples have no images",
            expected="an encoded image, or an array of shape (channels, height, width) or (height, width[, channels])",
            found=", ".join(map(str, samples[0])) or "no features",
        )
    return [*names][:_MAX_TILES_PER_SAMPLE]


def _create_sample_tiles(sample: Sample, names: Sequence[str], options: TileOptions) -> Iterator[Tile]:
    masks = [name for name in options.masks.values() if name in sample]
    shown = [name for name in names if name not in masks] or names
    caption = format_caption(sample, options.classes)
    for name in shown:
        text = caption if len(shown) == 1 else f"{caption} · {name}".removeprefix(" · ")
        yield Tile(_render_image(sample, name, options), text)


def _render_image(sample: Sample, name: str, options: TileOptions) -> Pixels | str:
    """Return the pixels of an image with its mask drawn over them, or a message if the image cannot be decoded."""
    value = sample.get(name)
    if value is None:
        return f"no {name}"
    try:
        pixels = (
            _decode_thumbnail(value, options.size) if _is_bytes(value) else to_pixels(value, options.images.get(name))
        )
    except RecordmillError as error:
        return error.message
    mask = sample.get(options.masks.get(name, ""))
    return pixels if mask is None else overlay_mask(pixels, np.asarray(mask))


def _decode_thumbnail(value: Any, size: int) -> Pixels:
    return read_thumbnail(bytes(value), size)


def _is_bytes(value: Any) -> bool:
    is_row = isinstance(value, np.ndarray) and value.ndim == 1 and value.dtype == np.uint8
    return is_row or isinstance(value, bytes | bytearray | memoryview)


def is_image(value: Any) -> bool:
    """Return True for an encoded image, and for an array whose shape and dtype are those of an image."""
    if _is_bytes(value):
        return find_image_format(bytes(value[:16])) is not None
    # The dtype is compared as text, because other frameworks have their own dtype classes.
    shape, dtype = tuple(getattr(value, "shape", ())), str(getattr(value, "dtype", ""))
    if len(shape) == 2:
        return min(shape) >= _MIN_SIDE and any(name in dtype for name in ("float", "uint8", "uint16", "bool"))
    has_channels = len(shape) == 3 and min(shape) > 0 and (shape[0] in _CHANNELS or shape[-1] in _CHANNELS)
    return has_channels and any(name in dtype for name in ("float", "int", "bool"))


# Convert pixels


def to_pixels(value: Any, spec: Image | None = None) -> Pixels:
    """Convert an image array, decoded with the options in `spec`, to uint8 pixels of shape (height, width, 1 or 3)."""
    array = np.asarray(value)
    if array.ndim not in (2, 3):
        raise FeatureError("the array is not an image", expected="2 or 3 dimensions", found=str(array.shape))
    if array.ndim == 2:
        array = array[:, :, None]
    elif _has_channels_first(array, spec):
        array = array.transpose(1, 2, 0)
    if array.shape[2] not in (1, 2, 3, 4) or 0 in array.shape:
        raise FeatureError("the array is not an image", expected="1 to 4 channels", found=str(array.shape))
    return drop_alpha(to_levels(array, spec))


def _has_channels_first(array: NDArray[Any], spec: Image | None) -> bool:
    if spec is not None:
        return spec.layout == "chw"
    return array.shape[0] in _CHANNELS and (array.shape[2] not in _CHANNELS or array.shape[0] <= array.shape[2])


def overlay_mask(pixels: Pixels, mask: NDArray[Any]) -> Pixels:
    """Draw the classes of a mask over an image, half transparent; classes 0 and 255 are not drawn."""
    if mask.shape != pixels.shape[:2]:
        return pixels
    labels = to_labels(mask)
    shown = labels > 0
    result = np.repeat(pixels, 3, axis=2) if pixels.shape[2] == 1 else pixels.copy()
    colors = mask_colors()[labels[shown]]
    result[shown] = (result[shown] * (1 - MASK_OPACITY) + colors * MASK_OPACITY).astype(np.uint8)
    return result


# Split batches into samples


def split_batch(batch: Any, count: int) -> list[Sample]:
    """Return the first `count` samples of a batch.

    `batch` may also be one sample, one image, or a sequence of samples or images. Images may be encoded.
    """
    if isinstance(batch, Mapping):
        return split_columns(batch, count) if _is_batch(batch) else [batch]
    if isinstance(batch, tuple) and len(batch) == 2 and _is_image_batch(batch[0]) and np.ndim(batch[1]) in (1, 2):
        return split_columns({"image": batch[0], "label": batch[1]}, count)
    if _is_bytes(batch):
        return [{"image": batch}]
    if hasattr(batch, "shape") and not _is_image_batch(batch):
        return [{"image": batch}]
    if not isinstance(batch, Iterable) or isinstance(batch, str):
        raise TypeError(f"expected a batch, a sample, or a sequence of samples or images, got {type(batch).__name__}")
    rows = [row for row, _ in zip(batch, range(count), strict=False)]
    return [row if isinstance(row, Mapping) else {"image": row} for row in rows]


def _is_batch(columns: Sample) -> bool:
    """Return True if the values of a dict are columns of a batch, and not the values of one sample."""
    if any(_is_bytes(value) and is_image(value) for value in columns.values()):
        return False
    if any(map(_is_image_batch, columns.values())):
        return True
    return not any(map(is_image, columns.values())) and any(isinstance(one, Ragged | list) for one in columns.values())


def _is_image_batch(value: Any) -> bool:
    """Return True for arrays of several images: four dimensions, or three without channels."""
    shape = getattr(value, "shape", ())
    return len(shape) == 4 or (len(shape) == 3 and not is_image(value))


def split_columns(columns: Sample, count: int) -> list[Sample]:
    """Return the first rows of the columns of a batch as samples; omit values that cannot be divided into rows."""
    rows = {name: value for name, value in columns.items() if _count_rows(value) is not None}
    num_rows = min((_count_rows(value) or 0 for value in rows.values()), default=0)
    return [{name: value[number] for name, value in rows.items()} for number in range(min(num_rows, count))]


def _count_rows(value: Any) -> int | None:
    if isinstance(value, Ragged | list | tuple):
        return len(value)
    shape = getattr(value, "shape", ())
    return int(shape[0]) if shape else None
