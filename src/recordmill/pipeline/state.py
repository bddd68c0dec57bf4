"""The position of a loader, as a small dict for a checkpoint."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from recordmill.errors import StateError
from recordmill.pipeline.checks import is_integer

VERSION = 1

# A state stays small: a longer description of the pipeline is truncated.
_MAX_DESCRIPTION = 500


@dataclass(frozen=True, slots=True)
class State:
    """A position between two batches of an epoch, the same for every rank.

    Parameters
    ----------
    epoch : int
    position : int
        Samples of the epoch that all ranks together have consumed; with a filter, samples before the filter.
    passed : int
        Consumed samples that passed the filter; without a filter, the same as `position`.
    """

    epoch: int = 0
    position: int = 0
    passed: int = 0

    def to_dict(self, fingerprint: str) -> dict[str, Any]:
        """Return the state of a pipeline with this fingerprint as plain values."""
        return {"version": VERSION, "pipeline": _digest(fingerprint), **asdict(self), "order": _truncate(fingerprint)}


def parse_state(saved: Any, fingerprint: str) -> State:
    """Return the state of plain values that `State.to_dict` returned for the same pipeline."""
    if not isinstance(saved, Mapping) or not {"version", "pipeline", "epoch", "position", "passed"} <= saved.keys():
        hint = "read it with json.loads first" if isinstance(saved, str | bytes) else None
        raise StateError("this is not the state of a loader", kind="bad_state", found=f"{saved!r:.100}", hint=hint)
    if saved["version"] != VERSION:
        raise StateError(
            "the state was saved by another version of recordmill",
            kind="bad_state",
            expected=repr(VERSION),
            found=repr(saved["version"]),
            hint="finish the epoch with the version that saved the state",
        )
    if saved["pipeline"] != _digest(fingerprint):
        raise StateError(
            "the state belongs to another pipeline",
            kind="other_pipeline",
            expected=_truncate(fingerprint),
            found=str(saved.get("order", saved["pipeline"])),  # the first states had no "order"
            hint="the records and the stages that select and order them must be the same",
        )
    numbers = [saved[name] for name in ("epoch", "position", "passed")]
    if not all(is_integer(number) for number in numbers):
        raise StateError("epoch, position and passed must be integers from 0", kind="bad_state", found=str(numbers))
    if numbers[0] >= 1 << 32:
        raise StateError(
            "the epoch of the state is too large", kind="bad_state", expected="at most 2**32 - 1", found=str(numbers[0])
        )
    return State(*map(int, numbers))


def check_state(state: State, length: int | None, stop: int | None) -> None:
    """Raise StateError if a state is beyond the end of its epoch; the end itself is valid."""
    for number, end in ((state.position, length), (state.passed, stop)):
        if end is not None and number > end:
            raise StateError(
                "the state is beyond the end of the epoch",
                kind="beyond_the_end",
                expected=f"at most {end} samples",
                found=f"{number}",
                hint="take after batch counts batches: it ends elsewhere with another batch size or number of ranks",
            )
    if state.passed > state.position:
        raise StateError(
            "more samples passed the filter than were consumed",
            kind="bad_state",
            expected=f"at most {state.position}",
            found=f"{state.passed}",
        )


def _digest(fingerprint: str) -> str:
    from hashlib import blake2b

    return blake2b(fingerprint.encode(), digest_size=8).hexdigest()


def _truncate(fingerprint: str) -> str:
    return fingerprint if len(fingerprint) <= _MAX_DESCRIPTION else f"{fingerprint[:_MAX_DESCRIPTION]}…"
