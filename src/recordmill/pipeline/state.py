"""Save the position of a loader as a small dict for a checkpoint, and check the dict when it is loaded."""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from recordmill.errors import StateError
from recordmill.pipeline.checks import is_integer

VERSION = 1

# The checksum of a saved state covers the values of these keys, in this order.
_SUMMED_KEYS = ("version", "pipeline", "epoch", "position", "passed", "order")
# The description of the pipeline in a saved state is truncated to this many characters, so that states stay small.
_MAX_DESCRIPTION = 500


@dataclass(frozen=True, slots=True)
class State:
    """State of a loader: a position between two batches of an epoch. All ranks have the same state.

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
        """Return the state as a dict of numbers and strings, with a hash of the pipeline and a checksum."""
        state = {
            "version": VERSION,
            "pipeline": _hash_fingerprint(fingerprint),
            **asdict(self),
            "order": _truncate(fingerprint),
        }
        return state | {"checksum": _compute_checksum(state)}


def parse_state(saved: Any, fingerprint: str) -> State:
    """Parse a dict from `State.to_dict`; raise StateError if it was changed or belongs to another pipeline."""
    if not isinstance(saved, Mapping) or not {*_SUMMED_KEYS, "checksum"} <= saved.keys():
        hint = "read it with json.loads first" if isinstance(saved, str | bytes) else None
        raise StateError(
            "the value must be the state of a loader, as state_dict() returns it",
            kind="bad_state",
            found=f"{saved!r:.100}",
            hint=hint,
        )
    if saved["version"] != VERSION:
        raise StateError(
            "the state was saved by another version of recordmill",
            kind="bad_state",
            expected=repr(VERSION),
            found=repr(saved["version"]),
            hint="finish the epoch with the version that saved the state",
        )
    checksum = _compute_checksum(saved)
    if checksum is None or saved["checksum"] != checksum:
        raise StateError(
            "the state was changed after it was saved: its checksum does not match its content",
            kind="bad_state",
            expected=f"checksum {checksum!r}",
            found=repr(saved["checksum"]),
            hint="load the state without changes; use Loader.state_after to get the state at another position",
        )
    if saved["pipeline"] != _hash_fingerprint(fingerprint):
        raise StateError(
            "the state belongs to another pipeline",
            kind="other_pipeline",
            expected=_truncate(fingerprint),
            found=str(saved["order"]),
            hint="open the same records, and apply the same stages that select and order records",
        )
    epoch, *numbers = (saved[name] for name in ("epoch", "position", "passed"))
    if not is_integer(epoch, stop=1 << 32) or not all(map(is_integer, numbers)):
        raise StateError(
            "'epoch', 'position' and 'passed' must be non-negative integers, and 'epoch' must be at most 2**32 - 1",
            kind="bad_state",
            found=str([epoch, *numbers]),
        )
    return State(int(epoch), *map(int, numbers))


def check_state(state: State, length: int | None, stop: int | None) -> None:
    """Raise StateError if a state is after the end of its epoch. The end itself is a valid position."""
    for number, end in ((state.position, length), (state.passed, stop)):
        if end is not None and number > end:
            raise StateError(
                "the state is beyond the end of the epoch",
                kind="beyond_the_end",
                expected=f"at most {end} samples",
                found=f"{number}",
                hint="take() after batch() counts batches, so the end depends on the batch size and number of ranks",
            )
    if state.passed > state.position:
        raise StateError(
            "'passed' must not be greater than 'position', because only consumed samples can pass the filter",
            kind="bad_state",
            expected=f"at most {state.position}",
            found=f"{state.passed}",
        )


def _compute_checksum(state: Mapping[str, Any]) -> str | None:
    """Return the CRC-32 of the values in a saved state, written as JSON; None if JSON does not support a value."""
    try:
        # `default=int` converts NumPy integers, which some checkpoint libraries return.
        text = json.dumps([state[key] for key in _SUMMED_KEYS], default=int)
    except (TypeError, ValueError):
        return None
    return f"{zlib.crc32(text.encode()):08x}"


def _hash_fingerprint(fingerprint: str) -> str:
    from hashlib import blake2b

    return blake2b(fingerprint.encode(), digest_size=8).hexdigest()


def _truncate(fingerprint: str) -> str:
    return fingerprint if len(fingerprint) <= _MAX_DESCRIPTION else f"{fingerprint[:_MAX_DESCRIPTION]}…"
