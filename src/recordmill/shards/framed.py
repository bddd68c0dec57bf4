"""Records in their stored form, ready to be written behind others."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recordmill import _core
from recordmill.dataclass import dataclass
from recordmill.formats.base import Format
from recordmill.shards.translate import to_error
from recordmill.types import Ragged


@dataclass(frozen=True, slots=True)
class Framed:
    """Records in their stored form.

    Parameters
    ----------
    data : buffer of uint8
        Frames back to back.
    lengths : ndarray of int64, shape (num_records,)
        Stored bytes of each.
    checksums : ndarray of uint32, shape (num_records,), or None
        CRC-32C of each payload, for formats that have none.
    """

    data: Any
    lengths: NDArray[np.int64]
    checksums: NDArray[np.uint32] | None


def dealt(framed: Framed, num_parts: int) -> Iterator[Framed]:
    """Records dealt out in turn: part ``i`` has the records ``i``, ``i + num_parts`` and so on.

    Parameters
    ----------
    framed : Framed
    num_parts : int

    Yields
    ------
    Framed
        As many parts as have records.
    """
    if num_parts == 1:
        yield framed
        return
    ends = np.cumsum(framed.lengths).tolist()
    frames = [framed.data[start:end] for start, end in pairwise([0, *ends])]
    for part in range(min(num_parts, len(frames))):
        rows = slice(part, None, num_parts)
        checksums = None if framed.checksums is None else framed.checksums[rows]
        yield Framed(b"".join(frames[rows]), framed.lengths[rows], checksums)


def frame_payloads(format_: Format, payloads: Ragged | list[bytes]) -> Framed:
    """Bring payloads into their stored form; may run in any thread or process.

    Parameters
    ----------
    format_ : Format
    payloads : Ragged of uint8, or list of bytes

    Returns
    -------
    Framed

    Raises
    ------
    FramingError
        A payload that the format cannot store.
    """
    if isinstance(payloads, list):
        return _framed(lambda: _core.frame_each(tuple(payloads), format_.framing.kind))
    return _framed(lambda: _core.frame(payloads.data, payloads.row_splits, format_.framing.kind))


def frame_columns(format_: Format, kind: _core.PayloadKind, num_records: int, columns: Sequence[Any]) -> Framed:
    """Bring columns into the stored form of records, without a copy of the payloads in between.

    Parameters
    ----------
    format_ : Format
    kind : PayloadKind
        Of the payloads.
    num_records : int
    columns : sequence of ColumnArgs
        Their values may be files that are read when they are written.

    Returns
    -------
    Framed

    Raises
    ------
    FeatureError, FramingError
        Values that the payload, or a payload that the format cannot store.
    OSError, CoreChanged
        A file cannot be read, or changes meanwhile.
    """
    return _framed(lambda: _core.serialize_frames(kind, num_records, columns, format_.framing.kind))


def _framed(write: Callable[[], tuple[_core.Block, _core.Block, _core.Block]]) -> Framed:
    try:
        data, lengths, checksums = write()
    except _core.CoreFault as error:
        raise to_error((*error.args[:2], None, *error.args[3:]), "the output") from None
    sums = np.asarray(checksums).astype(np.uint32) if len(checksums) else None
    return Framed(memoryview(data), np.asarray(lengths), sums)
