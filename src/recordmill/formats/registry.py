"""The formats and payload codecs that are known, by name; a new format adds one line here."""

from __future__ import annotations

import os

from recordmill.formats.base import Format, PayloadCodec
from recordmill.formats.ofrecord import OFRECORD
from recordmill.formats.recordio import RECORDIO
from recordmill.formats.tfrecord import TFRECORD

FORMATS: dict[str, Format] = {format_.name: format_ for format_ in (TFRECORD, OFRECORD, RECORDIO)}
PAYLOADS: dict[str, PayloadCodec] = {codec.name: codec for format_ in FORMATS.values() for codec in format_.payloads}


def get_format(name: str) -> Format:
    """Choose a format by name.

    Parameters
    ----------
    name : {"tfrecord", "ofrecord", "recordio"}

    Returns
    -------
    Format

    Raises
    ------
    ValueError
        No format has that name.
    """
    try:
        return FORMATS[name]
    except KeyError:
        raise ValueError(f"format is one of {', '.join(FORMATS)}, not {name!r}") from None


def format_for(path: str | os.PathLike[str], name: str | None = None) -> Format:
    """Choose the format of shards to be written.

    Parameters
    ----------
    path : path
        Where they go.
    name : {"tfrecord", "ofrecord", "recordio"}, optional
        None for the format whose files end like `path`, TFRecord where none does.

    Returns
    -------
    Format

    Raises
    ------
    ValueError
        No format has that name.
    """
    if name is not None:
        return get_format(name)
    return next((format_ for format_ in FORMATS.values() if os.fspath(path).endswith(format_.suffixes)), TFRECORD)


def get_payload(name: str | None, format_: Format) -> PayloadCodec:
    """Choose a payload codec by name; any codec can stand in any framing.

    Parameters
    ----------
    name : str or None
        None for the one that is usual in the format.
    format_ : Format

    Returns
    -------
    PayloadCodec

    Raises
    ------
    ValueError
        No codec has that name.
    """
    if name is None:
        return format_.payloads[0]
    try:
        return PAYLOADS[name]
    except KeyError:
        raise ValueError(f"payload is one of {', '.join(PAYLOADS)}, not {name!r}") from None
