"""Columns of encoded masks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from recordmill.decode.columns import byte_rows
from recordmill.decode.executors.base import Border, MaskJob
from recordmill.decode.executors.registry import executor_of
from recordmill.decode.features.image import chosen_of
from recordmill.decode.geometry import Geometry
from recordmill.decode.presets import find_preset
from recordmill.decode.specs.image import Image
from recordmill.decode.specs.mask import Mask
from recordmill.decode.state import BatchState, Slots
from recordmill.errors import DecodeError


def decode_masks(state: BatchState, name: str, specs: Mapping[str, Any]) -> dict[str, Any]:
    """Decode the masks of one output."""
    spec = cast("Mask", specs[name])
    feature = spec.feature or name
    payloads = byte_rows(state.column(feature), feature)
    rows = state.alive()
    chosen = chosen_of(payloads, rows)
    image = None if spec.of is None else cast("Image", specs[spec.of])
    job = MaskJob(chosen, dtype=spec.dtype, max_pixels=state.max_pixels)
    if image is not None:
        job = _following(state, spec, image, rows, chosen)
    size = None if image is None else Geometry.of(image).size
    if spec.stack and size is not None:
        place = state.slots(name, size, spec.dtype)
        _decode(state, feature, image, job, rows, Slots(place, rows))
        return {name: place}
    listed: list[Any] = [None] * len(rows)
    _decode(state, feature, image, job, rows, listed)
    if spec.stack:
        return {name: _stacked(state, name, spec, rows, listed)}
    classes: list[Any] = [None] * state.count
    for row, one in zip(rows, listed, strict=True):
        classes[row] = one
    return {name: classes}


def _decode(
    state: BatchState, feature: str, image: Image | None, job: MaskJob, rows: NDArray[np.int64], out: Any
) -> None:
    executor = executor_of("auto" if image is None else image.decoder)
    for row, fault in executor.masks(job, out, state.threads).items():
        state.fail(rows[row], feature, fault)


def _following(
    state: BatchState, spec: Mask, image: Image, rows: NDArray[np.int64], payloads: Sequence[Any]
) -> MaskJob:
    plan = state.images[spec.of or ""]
    at = plan.at(rows)
    border, fill = plan.border, (spec.fill or 0,)
    return MaskJob(
        payloads,
        (image.orientation or find_preset(image.like).orientation) == "apply",
        plan.headers.sizes[at],
        plan.headers.decoded[at],
        plan.moves[at],
        spec.fit,
        f"{plan.library}:nearest",
        Border(border.mode, fill, "nearest", fill),
        spec.dtype,
        state.max_pixels,
    )


def _stacked(state: BatchState, name: str, spec: Mask, rows: NDArray[np.int64], classes: Sequence[Any]) -> NDArray[Any]:
    made = [(int(row), one) for row, one in zip(rows, classes, strict=True) if one is not None]
    shape = made[0][1].shape if made else (0, 0)
    for row, one in made:
        if one.shape != shape:
            raise DecodeError(
                "masks of one batch have several sizes",
                kind="size_mismatch",
                expected=f"{shape[1]} x {shape[0]}",
                found=f"{one.shape[1]} x {one.shape[0]}",
                hint="masks follow their image's crop= or resize=; stack=False gives a list",
                position=row,
                feature=name,
            )
    out: NDArray[Any] = state.slots(name, shape, spec.dtype)
    for row, one in made:
        out[row] = one
    return out
