"""The words for damage, the one error that the oracle raises, and a collector of what came before it."""

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
)


class OracleError(Exception):
    """The bytes are not what the format demands.

    Parameters
    ----------
    kind : str
        One of `FAULT_KINDS`.
    offset : int
        Where, in bytes. Framing: from the start of the shard; the first byte of the record, or of the
        RecordIO part whose head is wrong. Payloads: from the start of the payload; the first byte of the
        field that does not parse.
    position : int, optional
        Ordinal of the record from 0, which is also the number of records in front of it. None for payloads.
    """

    def __init__(self, kind: str, offset: int, position: int | None = None) -> None:
        if kind not in FAULT_KINDS:
            raise ValueError(f"fault kind {kind!r} is none of {FAULT_KINDS}")
        super().__init__(kind, offset, position)
        self.kind = kind
        self.offset = offset
        self.position = position


def until_fault(records: Iterable[tuple[int, bytes]]) -> tuple[list[tuple[int, bytes]], OracleError | None]:
    """Collect records up to the first fault.

    Parameters
    ----------
    records : iterable of (offset, payload)
        What the `records` function of a format yields.

    Returns
    -------
    found : list of (offset, payload)
        The records in front of the fault, or all of them.
    error : OracleError or None
        The fault, None if there is none.
    """
    found: list[tuple[int, bytes]] = []
    try:
        for offset, payload in records:
            found.append((offset, payload))
    except OracleError as error:
        return found, error
    return found, None
