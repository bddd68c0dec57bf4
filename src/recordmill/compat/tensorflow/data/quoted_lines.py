"""Lines of files of separated values: a line end between quotation marks belongs to the line."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from recordmill.compat.tensorflow.data.elements import Element, Node
from recordmill.compat.tensorflow.data.files import Lines, text
from recordmill.types import RecordRef


class QuotedLines(Lines):
    """Lines, without their last ends; each is one record of fields."""

    def __init__(self, paths: Node, compression: str, delimiter: bytes, header: bool) -> None:
        super().__init__(paths, compression)
        self._delimiter, self._header = delimiter, header

    def read(self, path: str) -> Iterator[Element]:
        """Lines; those that belong together are joined."""
        return itertools.islice(self._records(path), int(self._header), None)

    def _records(self, path: str) -> Iterator[Element]:
        record, start, offset = 0, 0, 0
        parts: list[bytes] = []
        with self._opener(path) as file:
            for line in file:
                offset += len(line)
                parts.append(line)
                is_odd = b'"' in line and line.count(b'"') % 2
                if (is_odd or len(parts) > 1) and self._goes_on(line, len(parts) > 1):
                    continue
                yield _element(parts, path, record, start)
                record, start, parts = record + 1, offset, []
        if parts:
            yield _element(parts, path, record, start)

    def _goes_on(self, line: bytes, was_open: bool) -> bool:
        return bool(self._delimiter) and _is_open(line, self._delimiter, was_open)


def _element(parts: list[bytes], path: str, record: int, start: int) -> Element:
    whole = parts[0] if len(parts) == 1 else b"".join(parts)
    return Element(text(whole.removesuffix(b"\n").removesuffix(b"\r")), RecordRef(path, record, start))


def _is_open(line: bytes, delimiter: bytes, was_open: bool) -> bool:
    """Whether a quoted field goes on behind the end of a line; one begins where a field does."""
    place, is_open = 0, was_open
    while True:
        if is_open:
            place = line.find(b'"', place)
            if place < 0:
                return True
            is_double = line[place + 1 : place + 2] == b'"'
            is_open, place = is_double, place + 1 + is_double
        elif line[place : place + 1] == b'"' and (not place or line[place - 1 : place] == delimiter):
            is_open, place = True, place + 1
        else:
            place = line.find(delimiter, place) + 1
            if not place:
                return False
