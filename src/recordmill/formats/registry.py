"""Registry of formats and payload codecs by name."""

from __future__ import annotations

import os

from recordmill.formats.base import Format, PayloadCodec
from recordmill.formats.ofrecord import OFRECORD
from recordmill.formats.recordio import RECORDIO
from recordmill.formats.tfrecord import TFRECORD

FORMATS: dict[str, Format] = {format_.name: format_ for format_ in (TFRECORD, OFRECORD, RECORDIO)}
PAYLOADS: dict[str, PayloadCodec] = {codec.name: codec for format_ in FORMATS.values() for codec in format_.payloads}


def get_format(name: str) -> Format:
    """Return the format with this name; raise ValueError if there is none.

    Parameters
    ----------
    name : str
        A key of `FORMATS`.

    Returns
    -------
    Format

    Raises
    ------
    ValueError
        If no format has that name.
    """
    try:
        return FORMATS[name]
    except KeyError:
        raise ValueError(f"format must be one of {', '.join(FORMATS)}, got {name!r}") from None


def choose_format(path: str | os.PathLike[str], name: str | None = None) -> Format:
    """Choose the format of shards to write, by name or by the suffix of their path.

    Parameters
    ----------
    path : path
        Destination of the shards.
    name : str, optional
        A key of `FORMATS`; by default the format with the file suffix of `path`, or else TFRecord.

    Returns
    -------
    Format

    Raises
    ------
    ValueError
        If no format has that name.
    """
    if name is not None:
        return get_format(name)
    return next((format_ for format_ in FORMATS.values() if os.fspath(path).endswith(format_.suffixes)), TFRECORD)


def get_payload(name: str | None, format_: Format) -> PayloadCodec:
    """Return the payload codec with this name, or the default codec of the format. Every codec works in every format.

    Parameters
    ----------
    name : str or None
        A key of `PAYLOADS`; None for the default codec of the format.
    format_ : Format

    Returns
    -------
    PayloadCodec

    Raises
    ------
    ValueError
        If no codec has that name.
    """
    if name is None:
        return format_.payloads[0]
    try:
        return PAYLOADS[name]
    except KeyError:
        raise ValueError(f"payload must be one of {', '.join(PAYLOADS)}, got {name!r}") from None
