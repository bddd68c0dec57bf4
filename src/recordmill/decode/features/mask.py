"""Decode columns of encoded masks."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from recordmill.decode.columns import convert_for_native_call, convert_to_byte_rows
from recordmill.decode.geometry import GeometryPlan
from recordmill.decode.native import decode_masks
from recordmill.decode.options import DecodeOptions, OutputFormat
from recordmill.decode.plan import Border, MaskPlan, compile_image_plan, plan_images
from recordmill.decode.specs.mask import Mask
from recordmill.decode.state import BatchState
from recordmill.errors import DecodeError

Ints = NDArray[np.int64]


def decode_mask_column(state: BatchState, name: str, spec: Mask) -> dict[str, Any]:
    """Decode the column of masks of one `Mask` spec."""
    feature, rows = spec.feature or name, state.valid_rows()
    payloads = convert_to_byte_rows(state.column(feature), feature)
    chosen = payloads if len(rows) == state.count else [payloads[row] for row in rows.tolist()]
    plan = _plan_masks(state, spec, rows, convert_for_native_call(chosen))
    compiled = None if spec.of is None else state.images[spec.of].compiled
    size = None if compiled is None else compiled.size
    array = state.allocate_output(name, size, spec.dtype) if spec.stack and size is not None else None
    out: Any = array if array is not None and len(rows) == state.count else [None] * len(rows)
    decoder = "auto" if compiled is None else compiled.spec.decoder
    for number, error in decode_masks(plan, out, state.threads, decoder).items():
        state.store_error(rows[number], feature, error)
    if out is array:
        return {name: array}
    decoded = [(row, classes) for row, classes in zip(rows.tolist(), out, strict=True) if classes is not None]
    if array is None and spec.stack:
        array = state.allocate_output(name, _require_common_shape(name, decoded), spec.dtype)
    output: Any = [None] * state.count if array is None else array
    for row, classes in decoded:
        output[row] = classes
    return {name: output}


def _plan_masks(state: BatchState, spec: Mask, rows: Ints, payloads: Any) -> MaskPlan:
    """Plan how masks are decoded. A mask is transformed like its image; a mask without an image stays unchanged."""
    upright, border, kernel, sizes = False, Border(), "pillow:nearest", None
    geometry = GeometryPlan.identity(np.ones((len(rows), 2)))
    if spec.of is not None:
        images = state.images[spec.of]
        ordinals, compiled = images.find_ordinals(rows), images.compiled
        geometry, upright = images.geometry[ordinals], compiled.upright
        kernel = f"{compiled.plan.kernel.partition(':')[0]}:nearest"
        border = Border(compiled.border.mode, (spec.fill or 0,), "nearest", (spec.fill or 0,))
        sizes = np.ascontiguousarray(images.headers[ordinals].table[:, :4])
    plan = compile_image_plan(DecodeOptions(), OutputFormat(), kernel, border, max_pixels=state.max_pixels)
    return MaskPlan(plan_images(plan, payloads, geometry), upright, sizes, spec.fit, kernel, spec.dtype)


def _require_common_shape(name: str, decoded: list[tuple[int, NDArray[Any]]]) -> tuple[int, ...]:
    shape: tuple[int, ...] = decoded[0][1].shape if decoded else (0, 0)
    for row, classes in decoded:
        if classes.shape != shape:
            raise DecodeError(
                "masks of a batch must have the same size",
                kind="size_mismatch",
                expected=f"{shape[1]} x {shape[0]}",
                found=f"{classes.shape[1]} x {classes.shape[0]}",
                hint="set crop= or resize= in the image spec (masks are cropped and resized like their images), "
                "or set stack=False to get a list of arrays",
                position=row,
                feature=name,
            )
    return shape
