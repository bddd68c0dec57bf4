"""What becomes of a sample that fails: raised, left out, or replaced, within a limit and with a report."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from recordmill.errors import LimitError, RecordmillError
from recordmill.pipeline.checks import is_number, is_whole

OnError = Literal["raise", "skip", "substitute"]
# A rate is held against the samples seen so far once there are this many.
_LEAST = 100
# Samples in a row that may fail in batches of which nothing is left.
IN_A_ROW = 64


@dataclass(frozen=True, slots=True)
class Skipped:
    """One sample that failed.

    Parameters
    ----------
    epoch : int
    position : int
        In the epoch.
    error : RecordmillError
        With shard, record, offset and, where it has them, stage and feature.
    """

    epoch: int
    position: int
    error: RecordmillError

    def to_json(self) -> dict[str, Any]:
        """Plain form for reports."""
        error = self.error
        place = {name: getattr(error, name) for name in ("shard", "record", "offset")}
        names = ("stage", "feature")
        more = {name: getattr(error, name) for name in names if getattr(error, name, None) is not None}
        return {"epoch": self.epoch, "position": self.position, "message": error.message} | place | more


@dataclass(slots=True)
class Report:
    """The samples that failed in a loader's life, and the limit on them.

    Parameters
    ----------
    limit : int or float, optional
        Largest number of samples, or largest share of them as a number below 1.
    """

    limit: int | float | None = None
    skipped: list[Skipped] = field(default_factory=list)
    num_samples: int = 0

    def __post_init__(self) -> None:
        """Refuse what is no limit."""
        limit = self.limit
        if limit is not None and not (is_number(limit) and limit >= 0):
            raise ValueError(f"max_errors is a number of samples, or a share of them below 1, not {limit!r}")

    def add(self, num_samples: int, skipped: list[Skipped]) -> None:
        """Count samples that were asked for, and note those that failed."""
        self.num_samples += num_samples
        self.skipped += skipped
        if self.limit is None or not skipped:
            return
        count, share = len(self.skipped), not is_whole(self.limit) and self.limit < 1
        allowed = self.limit * max(self.num_samples, _LEAST) if share else self.limit
        if count > allowed:
            raise LimitError(
                "too many samples failed",
                kind="limit_exceeded",
                expected=f"at most {self.limit:.3%}" if share else f"at most {self.limit}",
                found=f"{count} of {self.num_samples}",
                hint="loader.report tells each; max_errors= sets the limit",
            ) from skipped[-1].error


class Barren:
    """Counts batches in a row of which all samples failed: a few are left out, more are no accident.

    Parameters
    ----------
    size : int
        Samples of a batch.
    whole : bool
        Whether this is all of an epoch, which has to give something.
    """

    def __init__(self, size: int, *, whole: bool) -> None:
        self._size, self._whole, self._in_a_row = size, whole, 0
        self._last: Exception | None = None

    def lacks(self, element: Any, skipped: list[Skipped]) -> bool:
        """Whether there is nothing to deliver."""
        if element is not None:
            self._whole, self._in_a_row = False, 0
            return False
        self._in_a_row, self._last = self._in_a_row + self._size, skipped[-1].error
        if self._in_a_row >= IN_A_ROW:
            raise self._last
        return True

    def end(self) -> None:
        """Refuse an epoch that gave nothing because all samples failed."""
        if self._whole and self._last is not None:
            raise self._last
