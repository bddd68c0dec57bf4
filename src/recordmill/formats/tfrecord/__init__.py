"""TFRecord, the record format of TensorFlow: its framing, payload codecs and index files."""

from __future__ import annotations

from recordmill.formats.base import Format
from recordmill.formats.raw import RAW
from recordmill.formats.tfrecord.framing import FRAMING, looks_like_tfrecord
from recordmill.formats.tfrecord.index import INDEX
from recordmill.formats.tfrecord.payload import EXAMPLE, SEQUENCE_EXAMPLE

TFRECORD = Format(
    name="tfrecord",
    framing=FRAMING,
    payloads=(EXAMPLE, SEQUENCE_EXAMPLE, RAW),
    suffixes=(".tfrecord", ".tfrecords", ".tfrec", ".record"),
    pattern="{prefix}-{shard:05d}-of-{num_shards:05d}.tfrecord",
    index=INDEX,
    index_on_write=False,
    image_feature="image",
    label_feature="label",
    compressible=True,
    spans_files=False,
    looks_like=looks_like_tfrecord,
)
