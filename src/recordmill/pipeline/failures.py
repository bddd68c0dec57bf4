"""Report samples that failed, and limit their number."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from recordmill.errors import LimitError, RecordmillError
from recordmill.pipeline.checks import is_integer, is_number

OnError = Literal["raise", "skip", "substitute"]
# If `max_errors` is a fraction, it is multiplied by at least this number of samples, so that one early failure does not
# exceed the limit.
MIN_SAMPLES = 100
# If all samples of consecutive batches fail, the last error is raised as soon as this many samples have failed.
MAX_CONSECUTIVE_FAILURES = 64


@dataclass(frozen=True, slots=True)
class SkippedSample:
    """A sample that failed, and its error.

    Parameters
    ----------
    epoch : int
    position : int
        Position in the epoch.
    error : RecordmillError
        Has shard, record, offset and, if known, stage and feature.
    """

    epoch: int
    position: int
    error: RecordmillError

    def to_json(self) -> dict[str, Any]:
        """Return the sample and its error as a dict that can be written as JSON."""
        error = self.error
        record = {name: getattr(error, name) for name in ("shard", "record", "offset")}
        optional = {name: getattr(error, name, None) for name in ("stage", "feature")}
        known = {name: value for name, value in optional.items() if value is not None}
        return {"epoch": self.epoch, "position": self.position, "message": error.message} | record | known


@dataclass(slots=True)
class FailureReport:
    """The failed samples of a loader, collected over all epochs.

    Parameters
    ----------
    limit : int or float, optional
        Maximum number of failed samples; a number below 1 is a fraction of the samples.
    skipped : list of SkippedSample
    num_samples : int
        Number of samples that were requested.
    """

    limit: int | float | None = None
    skipped: list[SkippedSample] = field(default_factory=list)
    num_samples: int = 0

    def __post_init__(self) -> None:
        """Raise ValueError if `limit` is not a number of at least 0."""
        limit = self.limit
        if limit is not None and not (is_number(limit) and limit >= 0):
            raise ValueError(
                f"max_errors must be a number of samples, or a fraction of all samples below 1, got {limit!r}"
            )

    def add_skipped(self, skipped: list[SkippedSample]) -> None:
        """Add failed samples; raise LimitError if their number exceeds the limit."""
        self.skipped += skipped
        if self.limit is None:
            return
        count, is_share = len(self.skipped), not is_integer(self.limit) and self.limit < 1
        allowed = self.limit * max(self.num_samples, MIN_SAMPLES) if is_share else self.limit
        if count > allowed:
            raise LimitError(
                "too many samples failed",
                kind="limit_exceeded",
                expected=f"at most {self.limit:.3%}" if is_share else f"at most {self.limit}",
                found=f"{count} of {self.num_samples}",
                hint="find the causes in loader.report, or raise the limit with max_errors=",
            ) from skipped[-1].error


class EmptyBatchLimit:
    """Limits the number of consecutive batches whose samples all failed.

    Isolated failures are skipped; too many in a row raise an error, because they indicate a systematic problem.

    Parameters
    ----------
    batch_size : int
    is_full_epoch : bool
        Whether the iteration covers a full epoch, which must contain at least one sample.
    """

    def __init__(self, batch_size: int, *, is_full_epoch: bool) -> None:
        self._batch_size, self._is_full_epoch = batch_size, is_full_epoch
        self._last_error: Exception | None = None
        self.num_failed = 0
        self.is_empty = True

    def add_failed_batch(self, skipped: list[SkippedSample]) -> None:
        """Count a batch whose samples all failed; raise the last error if there were too many in a row."""
        self.num_failed, self._last_error = self.num_failed + self._batch_size, skipped[-1].error
        if self.num_failed >= MAX_CONSECUTIVE_FAILURES:
            raise self._last_error

    def finish(self) -> None:
        """At the end of a full epoch, raise the last error if no sample was read."""
        if self._is_full_epoch and self.is_empty and self._last_error is not None:
            raise self._last_error
