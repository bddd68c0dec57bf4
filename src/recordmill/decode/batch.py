"""Decode the features of a batch to arrays."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from recordmill.decode.columns import convert_to_byte_rows, parse_columns, take_column_rows
from recordmill.decode.features.boxes import decode_box_column, decode_keypoint_column
from recordmill.decode.features.image import decode_image_column
from recordmill.decode.features.mask import decode_mask_column
from recordmill.decode.features.raw import decode_raw_column, decode_text_column
from recordmill.decode.geometry import adds_pixels, list_given_features
from recordmill.decode.options import MAX_PIXELS
from recordmill.decode.random import Draws, parse_rng
from recordmill.decode.specs.boxes import Boxes, Keypoints
from recordmill.decode.specs.image import Image
from recordmill.decode.specs.mask import Mask
from recordmill.decode.specs.raw import Raw
from recordmill.decode.specs.text import Text
from recordmill.decode.state import BatchState
from recordmill.errors import DecodeError, FeatureError
from recordmill.suggestions import suggest_arguments

Spec = Image | Mask | Raw | Text | Boxes | Keypoints
OnError = Literal["raise", "skip"] | Callable[[DecodeError], None]


@suggest_arguments
def decode_batch(  # noqa: PLR0913 (the options of one call)
    data: Any,
    specs: Mapping[str, Spec],
    *,
    rng: Draws | int | None = None,
    epoch: int = 0,
    positions: ArrayLike | None = None,
    threads: int = 1,
    out: Mapping[str, Any] | None = None,
    on_error: OnError = "raise",
    max_pixels: int = MAX_PIXELS,
    entry_points: Mapping[str, Any] | Any = None,
    empty: Callable[..., NDArray[Any]] = np.empty,
) -> dict[str, Any]:
    """Decode the features of a batch to arrays.

    The result depends only on the data, the specs, the seed, the epoch and the positions. It does not depend on
    `threads` or on how an epoch is divided into batches.

    Parameters
    ----------
    data : mapping of str to column, list of dict, list of bytes, or Ragged
        Columns as in batches of a Dataset and in `Dataset.to_numpy`, examples as returned by `Dataset.fetch`, or the
        byte strings of the only feature that `specs` read.
    specs : mapping of str to Image, Mask, Raw, Text, Boxes or Keypoints
        Spec of each output, by the name of the output. Columns without a spec are returned unchanged.
    rng : Draws or int, optional
        Random numbers, or a seed. Required if a spec has random transforms.
    epoch : int
        Epoch of the random numbers if `rng` is a seed.
    positions : array_like of int, shape (n,), optional
        Positions of the samples in the epoch; 0 … n - 1 by default.
    threads : int
        Number of decoding threads.
    out : mapping of str to ndarray, optional
        Arrays that receive outputs; they must have the shape and dtype of the output.
    on_error : str or callable
        "raise" raises the error of the first sample that fails. "skip" drops the failed samples from every column. A
        callable is called with each error, in order, and the failed samples are dropped.
    max_pixels : int
        Maximum number of pixels of an image or mask, as stored and after resizing. Larger images fail.
    entry_points : Ragged or list of bytes, or mapping of feature to these, optional
        Result of `find_entry_points` for the images: positions in the files at which decoding can start. With entry
        points, crops of JPEG images take less time, but the output is the same. Entry points of other images are
        ignored.
    empty : callable
        Function like `numpy.empty` that allocates the arrays that are not in `out`, for example in pinned memory.

    Returns
    -------
    dict of str to ndarray, Ragged or list
        Columns in the order of `data`, followed by new outputs in the order of `specs`.

    Raises
    ------
    DecodeError
        If a sample cannot be decoded. `position` is its row in the batch, `feature` its feature, `cause` the
        underlying error.
    FeatureError
        If a feature is missing or has a type that its spec does not support.
    MemoryError
        If there is not enough memory for an image. The message names the sample. `on_error` does not skip it.
    MissingExtraError
        If ``decoder="pillow"`` is set and Pillow is not installed.
    ValueError, TypeError
        If specs contradict each other, if a spec has random transforms but `rng` is missing, or if an array in `out`
        has another shape or dtype.

    Examples
    --------
    >>> batch = next(iter(rm.open("train.tfrecord").batch(4)))
    >>> rm.decode_batch(batch, {"image": rm.Image(resize=(32, 32))})["image"].shape
    (4, 3, 32, 32)
    """
    if threads < 0:
        raise ValueError(f"threads must not be negative, got {threads}")
    if not callable(on_error) and on_error not in ("raise", "skip"):
        raise ValueError(f'on_error must be "raise", "skip" or a function, got {on_error!r}')
    if max_pixels < 1:
        raise ValueError(f"max_pixels must be at least 1, got {max_pixels}")
    compiled = compile_specs(specs)
    columns = parse_columns(data, compiled.features)
    for name in compiled.new_names:
        if name in columns:
            raise _invalid_name_error(name)
    for name in out or ():
        if name not in specs or not getattr(specs[name], "stack", False):
            raise ValueError(f"out['{name}'] is not supported, because '{name}' is not a spec that returns one array")
    count = len(next(iter(columns.values()), ()))
    state = BatchState(
        columns,
        count,
        _parse_positions(positions, count),
        parse_rng(rng, epoch),
        threads,
        max_pixels,
        {} if entry_points is None else _parse_entry_points(entry_points, compiled.images, count),
        out or {},
        empty,
    )
    decoded: dict[str, Any] = {}
    for name, spec, decode_column in compiled.steps:
        decoded |= decode_column(state, name, spec)
        if state.errors and on_error == "raise":
            error = state.sorted_errors()[0]
            raise error from error.cause
    names = [name for name in columns if name not in state.consumed or name in decoded]
    result = {name: decoded.get(name, columns.get(name)) for name in dict.fromkeys([*names, *specs, *decoded])}
    return _drop_failed_samples(state, result, decoded, on_error) if state.errors else result


def check_specs(specs: Any) -> None:
    """Raise TypeError or ValueError if specs are not supported or contradict each other."""
    compile_specs(specs)


@dataclass(frozen=True, eq=False, slots=True)
class CompiledSpecs:
    """The specs of a batch, and all values that are computed from the specs before images are read.

    Parameters
    ----------
    steps : list of (str, spec, callable)
        Name, spec and decoder of each output. Images come first because others follow their geometry.
    features : list of str
        Features that the specs read.
    images : list of str
        Features that are images.
    new_names : list of str
        Names of outputs that no spec reads as a feature. They must not be names of columns.
    """

    steps: list[tuple[str, Spec, Callable[[BatchState, str, Any], dict[str, Any]]]]
    features: list[str]
    images: list[str]
    new_names: list[str]


def compile_specs(specs: Any) -> CompiledSpecs:
    """Check and compile the specs of a batch; the result is cached."""
    if not isinstance(specs, Mapping) or not specs:
        raise TypeError('specs must be a non-empty mapping of names to specs, such as {"image": Image(...)}')
    for name, spec in specs.items():
        if type(spec) not in _DECODERS:
            raise TypeError(f"'{name}' must be an Image, Mask, Raw, Text, Boxes or Keypoints, got {spec!r}")
    return _compile_specs(tuple(specs.items()))


_DECODERS: dict[type, Callable[[BatchState, str, Any], dict[str, Any]]] = {
    Image: decode_image_column,
    Mask: decode_mask_column,
    Raw: decode_raw_column,
    Text: decode_text_column,
    Boxes: decode_box_column,
    Keypoints: decode_keypoint_column,
}


@lru_cache(64)
def _compile_specs(items: tuple[tuple[str, Spec], ...]) -> CompiledSpecs:
    specs = dict(items)
    for name, spec in items:
        if isinstance(spec, Mask | Boxes | Keypoints) and spec.of is not None:
            _check_image_reference(name, spec, specs.get(spec.of))
    features = list(dict.fromkeys(feature for name, spec in items for feature in _list_features(name, spec)))
    along = [feature for _, spec in items if isinstance(spec, Boxes) for feature in spec.along]
    for name in specs:
        if name in along:
            raise _invalid_name_error(name)
    ordered = sorted(items, key=lambda item: not isinstance(item[1], Image))
    images = [spec.feature or name for name, spec in items if isinstance(spec, Image)]
    return CompiledSpecs(
        [(name, spec, _DECODERS[type(spec)]) for name, spec in ordered],
        features,
        list(dict.fromkeys(images)),
        [name for name in specs if name not in features],
    )


def _check_image_reference(name: str, spec: Mask | Boxes | Keypoints, image: Spec | None) -> None:
    if not isinstance(image, Image):
        hint = "; set of=None for a mask without an image" if isinstance(spec, Mask) else ""
        raise ValueError(f"'{name}' refers to image '{spec.of}', but no image spec has that name{hint}")  # noqa: TRY004
    if isinstance(spec, Mask) and spec.fill is None and adds_pixels(image):
        raise ValueError(
            f"mask '{name}' requires Mask(fill=...), because the crop or affine map of image '{spec.of}' "
            "may add pixels outside the image"
        )


def _list_features(name: str, spec: Spec) -> list[str]:
    """Return the names of the features that a spec reads."""
    feature = spec.feature or name
    features = [feature] if isinstance(feature, str) else list(feature)
    if isinstance(spec, Raw):
        features += [side for side in spec.shape if isinstance(side, str)]
    elif isinstance(spec, Boxes):
        features += spec.along
    elif isinstance(spec, Image):
        features += list_given_features(spec)
    return features


def _invalid_name_error(name: str) -> ValueError:
    return ValueError(f"the output '{name}' would replace the feature of the same name; give the output another name")


def _parse_positions(positions: ArrayLike | None, count: int) -> NDArray[np.int64]:
    if positions is None:
        return np.arange(count)
    array = np.asarray(positions)
    if array.size == 0:
        array = array.astype(np.int64)
    if array.shape != (count,) or array.dtype.kind not in "iu":
        raise ValueError(f"positions must be {count} integers, got {array.dtype} of shape {array.shape}")
    return array.astype(np.int64)


def _parse_entry_points(entry_points: Any, images: list[str], count: int) -> dict[str, Sequence[Any]]:
    """Check the entry points, and return a dict with the entry points of each feature.

    With an entry point, decoding can start in the middle of a JPEG.
    """
    if not isinstance(entry_points, Mapping):
        if len(images) != 1:
            raise FeatureError(
                "entry_points must be a mapping of feature names to entry points, unless the specs read exactly one "
                "image feature",
                found=f"{len(images)} images",
            )
        entry_points = {images[0]: entry_points}
    tables = {name: convert_to_byte_rows(rows, name) for name, rows in entry_points.items() if rows is not None}
    for name, rows in tables.items():
        if name not in images:
            message = "keys of entry_points must be image features"
            raise FeatureError(message, expected=", ".join(images) or "none", found=name)
        if len(rows) != count:
            message = f"entry points of '{name}' must have one row per sample"
            raise FeatureError(message, expected=str(count), found=str(len(rows)))
    return tables


def _drop_failed_samples(
    state: BatchState, result: dict[str, Any], decoded: Mapping[str, Any], on_error: OnError
) -> dict[str, Any]:
    if callable(on_error):
        for error in state.sorted_errors():
            on_error(error)
    rows = state.valid_rows()
    return {
        name: state.drop_failed_rows(name, column, rows) if name in decoded else take_column_rows(column, rows)
        for name, column in result.items()
    }
