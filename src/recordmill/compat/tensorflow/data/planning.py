"""Steps of a recorded program: which are native calls, and which are done to all samples of a batch at once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from recordmill.compat.tensorflow.data.chains import Chain, begins, is_link
from recordmill.compat.tensorflow.data.pictures import Picture, picture_of
from recordmill.compat.tensorflow.data.recorded import Recorded
from recordmill.compat.tensorflow.data.recording import Call, Program
from recordmill.compat.tensorflow.data.records import is_parse
from recordmill.compat.tensorflow.data.reordering import reordered
from recordmill.compat.tensorflow.data.rules import RULES
from recordmill.compat.tensorflow.data.structures import leaves

Step = Call | Picture | Chain
# Operations that take long for each sample.
_PICTURES = (
    "image.",
    *(f"io.decode_{name}" for name in ("and_crop_jpeg", "bmp", "gif", "image", "jpeg", "png", "webp")),
)


def makes_pictures(program: Program) -> bool:
    """Whether images are decoded or changed, which takes long."""
    return any(call.name.startswith(_PICTURES) and call.name not in RULES for call in program.calls)


def is_whole(step: Step) -> bool:
    """Whether a step is done to a whole batch wherever its samples are alike."""
    return isinstance(step, Chain) or (isinstance(step, Call) and (is_parse(step) or step.name in RULES))


def steps_of(program: Program) -> list[Step]:
    """Calls of a program: those of a decoder with the resize behind it, and arithmetic with constants, as one."""
    used = Counter(number for call in program.calls for number in call.inputs)
    used.update(leaf.number for leaf in leaves(program.result) if isinstance(leaf, Recorded))
    calls = reordered(program.calls, used)
    makers = {number: call for call in calls for number, key in call.outputs if key is None}
    steps: list[Step] = []
    done: set[int] = set()
    for call in reversed(calls):
        if id(call) in done:
            continue
        before = [call]
        while (first := _only_input(before[-1], makers, used)) is not None:
            before.append(first)
        step, count = _joined(before)
        done.update(map(id, before[:count]))
        steps.append(step)
    return steps[::-1]


def _only_input(call: Call, makers: Mapping[int, Call], used: Mapping[int, int]) -> Call | None:
    """Call whose result nothing else takes than this one."""
    if len(call.inputs) != 1:
        return None
    (number,) = call.inputs
    return makers.get(number) if used[number] == 1 else None


def _joined(before: Sequence[Call]) -> tuple[Step, int]:
    """Step of a call and of some of those before it, each of which is there for the next one only; and how many."""
    for count in (3, 2):
        if len(before) >= count and (picture := picture_of(before[:count][::-1])) is not None:
            return picture, count
    count = 0
    while count < len(before) and is_link(before[count]):
        count += 1
        if begins(before[count - 1]):
            break
    if count:
        return Chain(before[:count][::-1]), count
    return picture_of(before[:1]) or before[0], 1


def divided(steps: Sequence[Step]) -> tuple[list[Step], list[Step]]:
    """Steps done to all samples of a batch at once, and those done to a few after the other.

    What may draw random numbers stays together, as numbers go on from one operation of a sample to the next.
    """
    first: list[Step] = []
    rest: list[Step] = []
    late: set[int] = set()
    for step in steps:
        if is_whole(step) and not late & step.inputs:
            first.append(step)
        else:
            rest.append(step)
            late |= step.makes
    return (first, rest) if len(rest) > 1 else ([*steps], [])
