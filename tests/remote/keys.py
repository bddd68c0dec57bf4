"""Keys with characters that clients escape wrongly."""

from __future__ import annotations

AWKWARD_KEYS = (
    "plain.tfrecord",
    "with space/a b.tfrecord",
    "percent/100%.tfrecord",
    "percent/already%20escaped.tfrecord",
    "hash/#1.tfrecord",
    "question/what?.tfrecord",
    "plus/1+1=2&3.tfrecord",
    "unicode/größe-日本-😀.tfrecord",
    "brackets/[0-9]{a,b}*.tfrecord",
    "quotes/'single'\"double\".tfrecord",
)
