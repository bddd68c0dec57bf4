"""OFRecord, the record format of OneFlow: its framing and payload codec."""

from __future__ import annotations

from recordmill.formats.base import Format
from recordmill.formats.ofrecord.framing import FRAMING, looks_like_ofrecord
from recordmill.formats.ofrecord.payload import OFRECORD_MESSAGE
from recordmill.formats.raw import RAW

OFRECORD = Format(
    name="ofrecord",
    framing=FRAMING,
    payloads=(OFRECORD_MESSAGE, RAW),
    suffixes=(".ofrecord", ".of"),
    pattern="{prefix}-{shard}",
    index=None,
    index_on_write=False,
    image_feature="images",
    label_feature="labels",
    compressible=False,
    spans_files=True,
    looks_like=looks_like_ofrecord,
    prefixes=("part-",),
)
