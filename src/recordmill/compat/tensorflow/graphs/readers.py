"""Readers of the files of a queue: ``tf.TFRecordReader`` and its relatives."""

from __future__ import annotations

from typing import Any, NoReturn

from recordmill.compat.tensorflow.core.errors import InvalidArgumentError
from recordmill.compat.tensorflow.data.readers import FixedLengthRecordDataset, TextLineDataset, TFRecordDataset
from recordmill.compat.tensorflow.files.contents import read_file
from recordmill.compat.tensorflow.graphs.graph import GRAPH
from recordmill.compat.tensorflow.graphs.iterators import GraphIterator
from recordmill.compat.tensorflow.graphs.queues import FileQueue
from recordmill.compat.tensorflow.graphs.symbols import Symbol
from recordmill.dataclass import dataclass


@dataclass(frozen=True, eq=False, slots=True)
class NoKey:
    """Place of a record in its file, which is not told."""

    reader: str

    def inputs(self) -> set[int]:
        """None."""
        return set()

    def make(self, known: dict[int, Any]) -> NoReturn:
        """Refuse by name."""
        del known
        raise NotImplementedError(
            f"the keys of tf.{self.reader} are not supported: recordmill.open(...) tells shard and offset of each "
            "record"
        )


class Reader:
    """What readers have in common."""

    def __init__(self, name: Any = None) -> None:
        del name

    def _records(self, names: Any) -> Any:
        raise NotImplementedError

    def read(self, queue: Any, name: Any = None) -> tuple[Symbol, Symbol]:
        """Next record of the files of a queue."""
        del name
        made = self._iterator(queue).get_next()
        if isinstance(made, tuple):
            return made
        return GRAPH.add(NoKey(type(self).__name__), [None])[0], made

    def _iterator(self, queue: Any) -> GraphIterator:
        if not isinstance(queue, FileQueue):
            raise TypeError(f"expected what tf.train.string_input_producer gives, found {queue!r}")
        kind = type(self), tuple(vars(self).items())
        if kind not in queue.opened:
            records = self._records(queue.dataset)
            queue.opened[kind] = GraphIterator(records.element_spec, records, starts=True)
        return queue.opened[kind]


class TFRecordReader(Reader):
    """Reads record files."""

    def __init__(self, name: Any = None, options: Any = None) -> None:
        super().__init__(name)
        from recordmill.compat.tensorflow.io.records import TFRecordOptions

        self._compression = TFRecordOptions.get_compression_type_string(options)

    def _records(self, names: Any) -> Any:
        return TFRecordDataset(names, self._compression)


class TextLineReader(Reader):
    """Reads lines."""

    def __init__(self, skip_header_lines: int | None = None, name: Any = None) -> None:
        super().__init__(name)
        self._skipped = skip_header_lines or 0

    def _records(self, names: Any) -> Any:
        return names.flat_map(lambda one: TextLineDataset(one).skip(self._skipped))


class WholeFileReader(Reader):
    """Reads whole files; their keys are their names."""

    def _records(self, names: Any) -> Any:
        return names.map(lambda one: (one, read_file(one)))


class FixedLengthRecordReader(Reader):
    """Reads records of one length."""

    def __init__(
        self,
        record_bytes: int,
        header_bytes: int | None = None,
        footer_bytes: int | None = None,
        hop_bytes: int | None = None,
        name: Any = None,
        encoding: Any = None,
    ) -> None:
        super().__init__(name)
        if hop_bytes not in (None, 0, record_bytes) or encoding:
            raise InvalidArgumentError(
                f"hop_bytes={hop_bytes} and encoding={encoding!r} are not supported: use FixedLengthRecordDataset"
            )
        self._lengths = record_bytes, header_bytes or 0, footer_bytes or 0

    def _records(self, names: Any) -> Any:
        return FixedLengthRecordDataset(names, *self._lengths)
