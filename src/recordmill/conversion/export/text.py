"""Write samples to JSON lines or to a CSV table."""

from __future__ import annotations

import csv
import io

from recordmill.conversion.export.folder import labels_path_beside
from recordmill.conversion.export.output import OutputBuffer
from recordmill.conversion.export.samples import Sample
from recordmill.conversion.export.values import serialize_json, to_cell, to_json
from recordmill.conversion.export.writers import ExportOptions
from recordmill.errors import FeatureError
from recordmill.shards.class_names import format_labels


class FileWriter:
    """Base class of writers that write all samples to one file, and the class names to a second file.

    Parameters
    ----------
    options : ExportOptions
    """

    _writes_class_names = True

    def __init__(self, options: ExportOptions) -> None:
        self._result = options.result
        self._columns = None if options.schema is None else list(options.schema)
        self._outputs = [self._open(options.destination, options)]
        self._file = self._outputs[0]
        names = format_labels(options.classes) if options.classes and self._writes_class_names else None
        if names is not None:
            try:
                self._outputs.append(self._open(labels_path_beside(options.destination), options))
                self._outputs[1].write(names)
            except BaseException:
                self.discard()
                raise

    @staticmethod
    def _open(path: str, options: ExportOptions) -> OutputBuffer:
        return OutputBuffer(options.storage, path, overwrite=options.overwrite, sources=options.sources)

    def _check_columns(self, sample: Sample) -> list[str]:
        """Return the column names; raise FeatureError if a sample does not have the features of the first one."""
        if self._columns is None:
            self._columns = list(sample.values)
        if sample.values.keys() != set(self._columns):
            raise FeatureError(
                "all samples must have the same features",
                kind="feature_mismatch",
                expected=", ".join(self._columns),
                found=", ".join(sample.values),
                **sample.locate(),
            )
        return self._columns

    def commit(self) -> None:
        """Give the files their final names."""
        for output in self._outputs:
            output.finish()
        for output in reversed(self._outputs):
            output.commit()
        self._result.num_files = len(self._outputs)
        self._result.num_bytes = sum(output.num_bytes for output in self._outputs)
        self._outputs = []

    def discard(self) -> None:
        """Remove everything that was written."""
        for output in self._outputs:
            output.discard()


class JsonLinesWriter(FileWriter):
    """Writes an export with ``to="jsonl"``: one JSON object per sample, with the features as keys."""

    def write(self, sample: Sample) -> None:
        """Write one line."""
        self._file.write(serialize_json(to_json(sample.values)) + b"\n")


class CsvWriter(FileWriter):
    """Writes an export with ``to="csv"``: a header with the names of the features, and one row per sample."""

    _has_header = False

    def write(self, sample: Sample) -> None:
        """Write one row. Write the header before the first row."""
        columns = self._check_columns(sample)
        self._write_header(columns)
        self._file.write(_format_row([to_cell(sample.values[name]) for name in columns]))

    def _write_header(self, columns: list[str]) -> None:
        if not self._has_header:
            self._has_header = True
            self._file.write(_format_row(columns))

    def commit(self) -> None:
        """Give the files their final names."""
        self._write_header(self._columns or [])
        super().commit()


def _format_row(cells: list[str]) -> bytes:
    line = io.StringIO(newline="")
    csv.writer(line, lineterminator="\n").writerow(cells)
    return line.getvalue().encode("utf-8", "replace")
