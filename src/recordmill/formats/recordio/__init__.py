"""RecordIO, the record format of MXNet: its framing, payload codec and index files."""

from __future__ import annotations

from recordmill.formats.base import Format
from recordmill.formats.raw import RAW
from recordmill.formats.recordio.framing import FRAMING, looks_like_recordio
from recordmill.formats.recordio.index import INDEX
from recordmill.formats.recordio.payload import IRHEADER

RECORDIO = Format(
    name="recordio",
    framing=FRAMING,
    payloads=(IRHEADER, RAW),
    suffixes=(".rec",),
    pattern="{prefix}-{shard:05d}-of-{num_shards:05d}.rec",
    index=INDEX,
    index_on_write=True,
    image_feature="image",
    label_feature="label",
    compressible=False,
    spans_files=False,
    looks_like=looks_like_recordio,
)
