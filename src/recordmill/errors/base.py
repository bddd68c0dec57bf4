"""What all errors have in common: a message, a place, and how to go on."""

from __future__ import annotations

import pickle
from typing import Any


class RecordmillError(Exception):
    """Base of all errors raised here.

    Parameters
    ----------
    message : str
        What is wrong, in words.
    kind : str, optional
        Machine-readable kind, as in verify reports (``"payload_checksum"``).
    shard : str, optional
        Path of the shard (of the input file in packing errors).
    record : int, optional
        Position of the record in its shard, from 0.
    offset : int, optional
        Bytes from the start of the uncompressed shard.
    expected, found : str, optional
        What a sound input would hold, and what was there.
    hint : str, optional
        How to go on.
    """

    def __init__(
        self,
        message: str,
        *,
        kind: str | None = None,
        shard: str | None = None,
        record: int | None = None,
        offset: int | None = None,
        expected: str | None = None,
        found: str | None = None,
        hint: str | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.kind = kind
        self.shard = shard
        self.record = record
        self.offset = offset
        self.expected = expected or None
        self.found = found or None
        self.hint = hint

    def __str__(self) -> str:
        """Message, place and hint, a line each."""
        lines = [self.message]
        if self.found is not None:
            lines[0] += f" (expected {self.expected}, found {self.found})" if self.expected else f" ({self.found})"
        if place := self._place():
            lines.append("  " + ", ".join(place))
        if self.hint is not None:
            lines.append(f"  hint: {self.hint}")
        return "\n".join(lines)

    def _place(self) -> list[str]:
        place = [f"shard '{self.shard}'"] if self.shard is not None else []
        place += [f"record {self.record}"] if self.record is not None else []
        place += [f"offset {self.offset}"] if self.offset is not None else []
        return place

    def parts(self) -> dict[str, Any]:
        """Keyword arguments that build this error again.

        Returns
        -------
        dict of str to object
        """
        names = ("kind", "shard", "record", "offset", "expected", "found", "hint")
        return {name: getattr(self, name) for name in names}

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle by message and parts; a cause of a class that cannot be pickled is told in words."""
        parts = {name: _portable(part) if isinstance(part, Exception) else part for name, part in self.parts().items()}
        return _rebuild, (type(self), self.message, parts)


def _rebuild(cls: type[RecordmillError], message: str, parts: dict[str, Any]) -> RecordmillError:
    return cls(message, **parts)


def _portable(error: Exception) -> Exception:
    """Return the error itself if it can be pickled and built again, one that says the same otherwise."""
    try:
        again = pickle.loads(pickle.dumps(error))  # noqa: S301 (our own bytes)
        if type(again) is type(error):
            return error
    except Exception:  # noqa: BLE001, S110 (whatever a foreign class raises when it is pickled)
        pass
    return RecordmillError(f"{type(error).__name__}: {error}")
