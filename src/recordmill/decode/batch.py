"""The public entry: the features of a batch to arrays."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from recordmill.decode.check import Spec, check_names, check_specs, feature_names
from recordmill.decode.columns import columns_of, take
from recordmill.decode.draws import Draws, draws_from
from recordmill.decode.entry import tables_of
from recordmill.decode.features.table import DECODERS
from recordmill.decode.options import MAX_PIXELS
from recordmill.decode.specs.image import Image
from recordmill.decode.state import BatchState
from recordmill.errors import DecodeError

OnError = Literal["raise", "skip"] | Callable[[DecodeError], None]


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
    """Features of a batch as arrays.

    The result depends on the data, the specs, the seed, the epoch and the positions alone: not on `threads`, nor on how
    an epoch is cut into batches.

    Parameters
    ----------
    data : mapping of str to column, list of dict, list of bytes, or Ragged
        Columns as batches of a Dataset and `Dataset.to_numpy` have them, examples as `Dataset.fetch` gives them, or
        the byte strings of the one feature that `specs` names.
    specs : mapping of str to Image, Mask, Raw, Text, Boxes or Keypoints
        What becomes of features, by the name of the output. Columns without a spec are passed on as they are.
    rng : Draws or int, optional
        Draws, or a seed; needed where a spec is random.
    epoch : int
        With a seed.
    positions : array_like of int, shape (n,), optional
        Positions of the samples in the epoch; 0 … n - 1 by default.
    threads : int
        Decoding side by side.
    out : mapping of str to ndarray, optional
        Where outputs go: arrays of exactly their shape and dtype.
    on_error : {"raise", "skip"} or callable
        What happens with a sample that does not decode: the error of the first one is raised; or the sample is left
        out of every column. A callable is given each error, in order, and the samples are left out.
    max_pixels : int
        Images and masks of more are errors, and so are images that resizing would make larger.
    entry_points : Ragged or list of bytes, or mapping of feature to these, optional
        What `find_entry_points` gives for the images: crops of JPEG then take less time. The result is the same with
        and without, and with those of other images, which are not used.

    empty : callable
        Makes the arrays that are not in `out`, as `numpy.empty` does: from pinned memory, or from memory that is used
        again.

    Returns
    -------
    dict of str to ndarray, Ragged or list
        In the order of `data`, then of `specs`.

    Raises
    ------
    DecodeError
        A sample that does not decode; `position` is its place in the batch, `feature` its feature, `cause` what was
        raised below.
    FeatureError
        A feature that is missing or holds something else than a spec needs.
    MissingExtraError
        An image, and no decoder for it: Pillow is not installed.
    ValueError, TypeError
        Specs that contradict one another, no `rng` for random ones, `out` of another shape.
    """
    _check_options(threads, on_error, max_pixels)
    check_specs(specs)
    columns = columns_of(data, feature_names(specs))
    check_names(specs, columns)
    count = len(next(iter(columns.values()), ()))
    draws = draws_from(rng, epoch)
    state = BatchState(columns, count, _places(positions, count), draws, threads, max_pixels)
    state.empty = empty
    state.tables = tables_of(entry_points, specs, count)
    state.places_for(out or {}, specs)
    decoded: dict[str, Any] = {}
    for name in _in_order(specs):
        decoded |= DECODERS[type(specs[name])](state, name, specs)
        if on_error == "raise":
            state.raise_first()
    return _assembled(state, specs, decoded, on_error)


def _check_options(threads: int, on_error: OnError, max_pixels: int) -> None:
    if threads < 0:
        raise ValueError(f"threads is not negative, not {threads}")
    if not callable(on_error) and on_error not in ("raise", "skip"):
        raise ValueError(f'on_error is "raise", "skip" or a function, not {on_error!r}')
    if max_pixels < 1:
        raise ValueError(f"max_pixels is at least 1, not {max_pixels}")


def _places(positions: ArrayLike | None, count: int) -> Any:
    if positions is None:
        return np.arange(count)
    places = np.asarray(positions)
    if places.size == 0:
        places = places.astype(np.int64)
    if places.shape != (count,) or places.dtype.kind not in "iu":
        raise ValueError(f"positions are {count} whole numbers, not {places.dtype} of shape {places.shape}")
    return places.astype(np.int64)


def _in_order(specs: Mapping[str, Spec]) -> list[str]:
    """Images first: the others follow them."""
    return sorted(specs, key=lambda name: not isinstance(specs[name], Image))


def _assembled(
    state: BatchState, specs: Mapping[str, Spec], decoded: dict[str, Any], on_error: OnError
) -> dict[str, Any]:
    names = [name for name in state.columns if name not in state.consumed or name in decoded]
    names = list(dict.fromkeys([*names, *specs, *decoded]))
    result = {name: decoded.get(name, state.columns.get(name)) for name in names}
    if not state.faults:
        return result
    errors = state.errors()
    if callable(on_error):
        for error in errors:
            on_error(error)
    kept = state.kept_rows()
    return {
        name: state.compact(name, column, kept) if name in decoded else take(column, kept)
        for name, column in result.items()
    }
