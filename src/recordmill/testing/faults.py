"""Kinds of faults, the error that oracles raise, and a function that reads records up to the first fault."""

from __future__ import annotations

from collections.abc import Iterable

FAULT_KINDS = (
    "truncated_header",
    "truncated_payload",
    "length_checksum",
    "payload_checksum",
    "bad_length",
    "bad_magic",
    "bad_continuation",
    "bad_padding",
    "bad_payload",
    "feature_mismatch",
    "bad_compression",
    "limit_exceeded",
    "record_too_long",
)


class OracleError(Exception):
    """An oracle found bytes that violate the format.

    Parameters
    ----------
    kind : str
        One of `FAULT_KINDS`.
    offset : int
        Position of the fault in bytes. Framing: from the start of the shard to the record, or to the RecordIO part
        with an invalid header. Payloads: from the start of the payload to the field that cannot be parsed.
    position : int, optional
        Ordinal of the record from 0, which is the number of records before it. None for payloads.
    """

    def __init__(self, kind: str, offset: int, position: int | None = None) -> None:
        if kind not in FAULT_KINDS:
            raise ValueError(f"kind must be one of {FAULT_KINDS}, got {kind!r}")
        super().__init__(kind, offset, position)
        self.kind = kind
        self.offset = offset
        self.position = position


def read_until_fault(records: Iterable[tuple[int, bytes]]) -> tuple[list[tuple[int, bytes]], OracleError | None]:
    """Read records until the end or the first fault; return the records, and the error or None.

    Parameters
    ----------
    records : iterable of (offset, payload)
        Result of the `iter_records` function of a format.

    Returns
    -------
    found : list of (offset, payload)
        The records before the fault, or all records.
    error : OracleError or None
        The fault, or None if there is none.
    """
    found: list[tuple[int, bytes]] = []
    try:
        for offset, payload in records:
            found.append((offset, payload))
    except OracleError as error:
        return found, error
    return found, None
