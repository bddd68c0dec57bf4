"""JPEG files that end too early: what they still hold, where the caller lets them pass."""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from recordmill import _core
from recordmill.decode.executors.native_one import image_error, natively
from recordmill.errors import ImageError

_TOO_EARLY = "the image ends too early"


def check_truncated(recovers: bool, fraction: float | None, orientation: str) -> bool:
    """Whether files that end too early may pass."""
    if fraction is not None and not 0 <= fraction <= 1:
        raise ValueError(f"acceptable_fraction is from 0 to 1, not {fraction}")
    may_pass = recovers or fraction is not None
    if may_pass and orientation == "apply":
        raise ValueError("recover_truncated and acceptable_fraction are for orientation='ignore'")
    return may_pass


def decode_truncated(
    data: Any, options: tuple[Any, ...], points: Any, recovers: bool, fraction: float | None
) -> NDArray[Any] | None:
    """Pixels of a JPEG that may be damaged or end too early, as libjpeg-turbo gives them."""
    # Damage may lie outside a window, so that a file of which one is wanted is read to see whether it is whole.
    if options[0] is None:
        try:
            pixels = natively(lambda: _core.decode_jpeg(*(data, *options, points)))
        except ImageError as error:
            if error.kind == "bad_entry_points":
                raise
        else:
            if pixels is not None:
                return pixels
    try:
        (block, height, width, channels), num_rows = _core.decode_truncated_jpeg(*(data, *options, recovers))
    except _core.ImageRefused as refused:
        kind, offset, expected, found = refused.args
        if kind == "unsupported":
            return None
        if kind != "truncated":
            raise image_error(refused.args) from None
        raise ImageError(_TOO_EARLY, kind=kind, offset=offset, expected=expected, found=found) from None
    enough = 1.0 if fraction is None else fraction
    if np.float32(num_rows) / np.float32(height) < np.float32(enough):
        raise ImageError(
            _TOO_EARLY,
            kind="truncated",
            expected=f"at least {enough:g} of {height} rows",
            found=str(num_rows),
            hint="acceptable_fraction= sets how many rows are enough",
        )
    return np.asarray(block).reshape(height, width, channels)


def refuse_recovery(error: ImageError) -> NoReturn:
    """Raise the error of a damaged file whose end cannot be made up here."""
    raise ImageError(
        "recover_truncated is not supported for such a file",
        kind="unsupported",
        expected="a JPEG that is decoded natively",
        found=error.message,
    ) from error
