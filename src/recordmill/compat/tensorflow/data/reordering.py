"""Calls in an order that takes less: pixels are moved as they were decoded, and become floats afterwards."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from recordmill.compat.tensorflow.data.chains import begins, is_arithmetic
from recordmill.compat.tensorflow.data.recorded import Recorded
from recordmill.compat.tensorflow.data.recording import Call

_DECODERS = ("io.decode_jpeg", "io.decode_png", "io.decode_and_crop_jpeg")
# Operations that leave pixels as they are, and choose or place them by sizes alone.
_MOVES = frozenset(
    f"image.{name}"
    for name in (
        *("central_crop", "crop_to_bounding_box", "flip_left_right", "flip_up_down", "random_crop"),
        *("random_flip_left_right", "random_flip_up_down", "rot90", "transpose"),
    )
)
# Those that may leave some channels out.
_CUTS_CHANNELS = frozenset({"image.random_crop"})
# Those that fill up with zeros, too.
_FILLING = frozenset({"image.pad_to_bounding_box", "image.resize_with_crop_or_pad"})


def reordered(calls: Sequence[Call], wanted: Counter[int]) -> list[Call]:
    """Calls that give the same."""
    found = list(calls)
    makers = {number: call for call in found for number, key in call.outputs if key is None}
    place = 0
    while place < len(found):
        call = found[place]
        before = _maker(call, makers)
        if before is not None and wanted[before.outputs[0][0]] == 1 and _commute(before, call):
            found.remove(before)
            moved, then = _swapped(before, call)
            found[place - 1 : place] = [moved, then]
            makers.update({one.outputs[0][0]: one for one in (moved, then)})
            place = found.index(moved)
            continue
        if before is not None and _needs_no_cast(before, call, makers):
            call = found[place] = Call(call.name, (before.args[0], *call.args[1:]), call.kwargs, call.outputs)
            makers[call.outputs[0][0]] = call
            wanted[before.outputs[0][0]] -= 1
            wanted[call.args[0].number] += 1
            if not wanted[before.outputs[0][0]]:
                wanted[call.args[0].number] -= 1
                found.remove(before)
                continue
        place += 1
    return found


def _maker(call: Call, makers: dict[int, Call]) -> Call | None:
    """Call that gives the image that a call takes."""
    if not call.args or not isinstance(call.args[0], Recorded):
        return None
    return makers.get(call.args[0].number)


def _commute(before: Call, call: Call) -> bool:
    """Whether arithmetic may come behind the call that moves its result."""
    if call.name in _FILLING:
        return begins(before)
    if call.name not in _MOVES:
        return False
    return begins(before) or is_arithmetic(before, axes=0 if call.name in _CUTS_CHANNELS else 1)


def _swapped(before: Call, call: Call) -> tuple[Call, Call]:
    value = Recorded(before.outputs[0][0], None)
    moved = Call(call.name, (_image(before), *call.args[1:]), call.kwargs, before.outputs)
    args = tuple(value if isinstance(one, Recorded) else one for one in before.args)
    return moved, Call(before.name, args, before.kwargs, call.outputs)


def _image(call: Call) -> Recorded:
    found: Recorded = next(one for one in call.args if isinstance(one, Recorded))
    return found


def _needs_no_cast(before: Call, call: Call, makers: dict[int, Call]) -> bool:
    """Whether a resize makes floats by itself of what is cast for it."""
    method = call.kwargs.get("method", call.args[2] if len(call.args) > 2 else "bilinear")
    return (
        call.name == "image.resize"
        and isinstance(method, str)
        and method != "nearest"
        and before.name == "array.cast"
        and begins(before)
        and _has_levels(before.args[0], makers)
    )


def _has_levels(value: Recorded, makers: dict[int, Call]) -> bool:
    """Whether a value is what a decoder gave, in 8 bits, perhaps moved."""
    call = makers.get(value.number)
    while call is not None and call.name in _MOVES | _FILLING:
        call = _maker(call, makers)
    return (
        call is not None
        and call.name in _DECODERS
        and "dtype" not in call.kwargs
        and (call.name != "io.decode_png" or len(call.args) < 3)
    )
