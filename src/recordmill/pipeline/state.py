"""Where a loader stands, as a small dict that goes into a checkpoint."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from recordmill.errors import StateError
from recordmill.pipeline.checks import is_whole

VERSION = 1

# A state is small; of a pipeline with a longer description the beginning is kept.
_MOST_TOLD = 500


@dataclass(frozen=True, slots=True)
class State:
    """A place between two batches of an epoch, the same for every rank.

    Parameters
    ----------
    epoch : int
    position : int
        Samples of the epoch that are behind, of all ranks together; of a pipeline with a filter, samples that were
        held against it.
    passed : int
        Of a pipeline with a filter, samples that passed it; otherwise as `position`.
    """

    epoch: int = 0
    position: int = 0
    passed: int = 0

    def to_dict(self, pipeline: str) -> dict[str, Any]:
        """Plain form."""
        return {"version": VERSION, "pipeline": digest(pipeline), **asdict(self), "order": _told(pipeline)}


def digest(fingerprint: str) -> str:
    """Short form of a fingerprint."""
    from hashlib import blake2b

    return blake2b(fingerprint.encode(), digest_size=8).hexdigest()


def state_from(saved: Any, pipeline: str) -> State:
    """State of its plain form."""
    if not isinstance(saved, Mapping) or not {"version", "pipeline", "epoch", "position", "passed"} <= saved.keys():
        hint = "read it with json.loads first" if isinstance(saved, str | bytes) else None
        raise StateError("this is no state of a loader", kind="bad_state", found=f"{saved!r:.100}", hint=hint)
    if saved["version"] != VERSION:
        raise StateError(
            "the state was saved by another version",
            kind="bad_state",
            expected=repr(VERSION),
            found=repr(saved["version"]),
            hint="go on with the version of recordmill that saved it, to the end of the epoch",
        )
    if saved["pipeline"] != digest(pipeline):
        raise _other_pipeline(saved, pipeline)
    numbers = [saved[name] for name in ("epoch", "position", "passed")]
    if not all(is_whole(number) for number in numbers):
        raise StateError("a state counts from 0", kind="bad_state", found=str(numbers))
    if numbers[0] >= 1 << 32:
        raise StateError(
            "there is no such epoch", kind="bad_state", expected="at most 2**32 - 1", found=str(numbers[0])
        )
    return State(*map(int, numbers))


def _told(pipeline: str) -> str:
    return pipeline if len(pipeline) <= _MOST_TOLD else f"{pipeline[:_MOST_TOLD]}…"


def _other_pipeline(saved: Mapping[str, Any], pipeline: str) -> StateError:
    return StateError(
        "the state belongs to another pipeline",
        kind="other_pipeline",
        expected=_told(pipeline),
        found=str(saved.get("order", saved["pipeline"])),  # states told a digest alone once
        hint="records have to be the same, and so have the stages that choose and order them",
    )


def check_inside(state: State, length: int | None, stop: int | None) -> None:
    """Refuse a state beyond the end of its epoch; the end itself is where the last element leads."""
    for number, end in ((state.position, length), (state.passed, stop)):
        if end is not None and number > end:
            raise StateError(
                "the state lies beyond the end of the epoch",
                kind="beyond_the_end",
                expected=f"at most {end} samples",
                found=f"{number}",
                hint="take behind batch counts batches: with other batches or ranks it ends elsewhere",
            )
    if state.passed > state.position:
        raise StateError(
            "no more samples pass a filter than are held against it",
            kind="bad_state",
            expected=f"at most {state.position}",
            found=f"{state.passed}",
        )
