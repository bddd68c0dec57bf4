"""``Dataset.cache(filename)``: elements kept in a record file after the first whole pass, also for later programs."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator

import recordmill as rm
from recordmill.compat.tensorflow.core.errors import DataLossError
from recordmill.compat.tensorflow.data.elements import Element, Node, Step, Way
from recordmill.compat.tensorflow.data.packed import form_of, packed, spec_in, unpacked
from recordmill.compat.tensorflow.data.specs import spec_of
from recordmill.compat.tensorflow.files.errors import translate_errors
from recordmill.compat.tensorflow.io.records import tf_record_iterator

# Behind the given name, so that TensorFlow's own cache files of that name are left alone.
SUFFIX = ".cache.tfrecord"


class CacheFile(Node):
    """Elements kept in a file, which appears when a pass came to its end without an error."""

    def __init__(self, node: Node, filename: str) -> None:
        super().__init__(node)
        self._path = filename + SUFFIX

    def iterate(self, way: Way) -> Iterator[Step]:
        """Give the kept ones, or keep while giving."""
        return _stored(self._path) if os.path.exists(self._path) else self._storing(way)

    def _storing(self, way: Way) -> Iterator[Step]:
        with translate_errors(self._path):
            records = rm.PayloadWriter(self._path, format="tfrecord", index="never")
        is_first, sound, ended = True, True, False
        try:
            for element in self.input.iterate(way):
                if isinstance(element, Element):
                    if is_first:
                        records.write(json.dumps({"form": form_of(spec_of(element.value))}).encode())
                        is_first = False
                    records.write(packed(element.value))
                else:
                    sound = False
                yield element
            ended = True
        finally:
            if ended and sound:
                records.close()
            else:
                records.discard()


def _stored(path: str) -> Iterator[Step]:
    records = tf_record_iterator(path)
    first = next(records, None)
    if first is None:
        return
    try:
        spec = spec_in(json.loads(first)["form"])
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise DataLossError(
            "it does not begin with the form of its elements", shard=path, hint="remove it, and it is made again"
        ) from None
    for number, record in enumerate(records, 1):
        yield Element(unpacked(record, spec, path, number))
