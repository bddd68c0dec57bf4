"""``tf.data``'s data sets of files."""

from __future__ import annotations

from typing import Any

from recordmill.compat.tensorflow.core.errors import InvalidArgumentError
from recordmill.compat.tensorflow.core.tensor import array_of
from recordmill.compat.tensorflow.data.cycles import default_cycle
from recordmill.compat.tensorflow.data.dataset import Dataset, names_of
from recordmill.compat.tensorflow.data.files import Files, Lines, Pieces, Records
from recordmill.compat.tensorflow.data.nesting import Interleave
from recordmill.compat.tensorflow.data.sources import Single
from recordmill.compat.tensorflow.data.structures import whole

# Hints of TensorFlow that have no influence on elements and their order here.
# ruff: noqa: ARG002


class _FileDataset(Dataset):
    """Elements of files."""

    def __init__(
        self,
        filenames: Any,
        compression_type: Any = None,
        buffer_size: int | None = None,
        num_parallel_reads: int | None = None,
        name: str | None = None,
    ) -> None:
        self._begin(filenames, compression_type, num_parallel_reads)

    def _begin(self, filenames: Any, compression: Any, num_parallel_reads: Any) -> None:
        names, kind = names_of(filenames), "" if compression is None else _word(compression)
        if num_parallel_reads is None:
            super().__init__(self._files(names, kind))
            return
        given = whole(num_parallel_reads, "num_parallel_reads")
        if given < 1 and given != -1:
            raise InvalidArgumentError(f"`num_parallel_reads` must be greater than zero, not {given}.")

        def opened(name: Any) -> Dataset:
            return Dataset(self._files(Single(name), kind))

        super().__init__(FilesInTurn(names, opened, default_cycle(-1) if given == -1 else given, 1))

    def _files(self, names: Any, compression: str) -> Files:
        raise NotImplementedError


class FilesInTurn(Interleave):
    """Elements of several files in turn."""

    runs_python = False


def _word(value: Any) -> str:
    word: bytes = array_of(value).ravel()[0]
    return word.decode()


class TFRecordDataset(_FileDataset):
    """Payloads of TFRecord files, one file after the other; checksums are verified."""

    def _files(self, names: Any, compression: str) -> Files:
        return Records(names, compression)


class TextLineDataset(_FileDataset):
    """Lines of text files, without their ends."""

    def _files(self, names: Any, compression: str) -> Files:
        return Lines(names, compression)


class FixedLengthRecordDataset(_FileDataset):
    """Pieces of files that are all of one length."""

    def __init__(
        self,
        filenames: Any,
        record_bytes: int,
        header_bytes: int | None = None,
        footer_bytes: int | None = None,
        buffer_size: int | None = None,
        compression_type: Any = None,
        num_parallel_reads: int | None = None,
        name: str | None = None,
    ) -> None:
        self._lengths = whole(record_bytes, "record_bytes"), header_bytes or 0, footer_bytes or 0
        self._begin(filenames, compression_type, num_parallel_reads)

    def _files(self, names: Any, compression: str) -> Files:
        return Pieces(names, compression, self._lengths)
