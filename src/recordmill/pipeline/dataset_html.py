"""HTML for notebooks: the size, stages and features of a dataset, and thumbnails of its first records.

Jupyter calls this for every dataset at the end of a cell, so the time, the number of bytes read and the size of the
result are limited. Damaged records and images are shown as damaged instead of raising an error.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from time import thread_time
from typing import TYPE_CHECKING, Any

from recordmill.decode.pillow import import_pillow
from recordmill.decode.signatures import find_image_format
from recordmill.decode.thumbnails import create_thumbnail
from recordmill.errors import ImageError, MissingExtraError
from recordmill.html import (
    format_block,
    format_classes,
    format_image,
    format_lines,
    format_note,
    format_table,
    format_tile,
    shorten,
)
from recordmill.pipeline.captions import format_caption, format_value
from recordmill.pipeline.description import count_elements

if TYPE_CHECKING:
    from recordmill.pipeline.compiled_pipeline import ExampleSource
    from recordmill.pipeline.dataset import Dataset

_NUM_RECORDS = 12
_NUM_TABLE_RECORDS = 5
_MAX_COLUMNS = 8
_MAX_STAGES = 20
_MAX_RECORD_BYTES = 8 << 20
# Limits for all records together: the number of bytes that are read, and the CPU time in seconds after which no more
# images are decoded.
_MAX_BYTES = 32 << 20
_MAX_SECONDS = 0.06
_THUMBNAIL_SIZE = 128
_MAX_THUMBNAIL_BYTES = 9_000
# Large JPEG images are decoded at a reduced scale, other formats at full size.
_MAX_JPEG_PIXELS = 1 << 25
_MAX_OTHER_PIXELS = 1 << 21


def format_dataset_html(dataset: Dataset) -> str:
    """Return the number of elements, the origin, stages, features and classes, and thumbnails of the first records."""
    noun = "samples" if dataset.batch_stage is None else "batches"
    stages = [f".{stage!r}" for stage in dataset.stages]
    if len(stages) > _MAX_STAGES:
        stages[_MAX_STAGES:] = [f"and {len(stages) - _MAX_STAGES:,} more stages"]
    features = [(name, str(feature)) for name, feature in dataset.schema.items()]
    return format_block(
        f"Dataset of {count_elements(dataset)} {noun}",
        format_lines([repr(dataset.origin)]),
        format_lines(stages),
        format_table(("feature", "kind"), features, 20),
        format_classes(dataset.classes),
        _RecordPreview(dataset.classes).format_records(dataset.origin.sources),
    )


@dataclass
class _RecordPreview:
    """Thumbnails, or a table of values, of the first records of a dataset.

    Parameters
    ----------
    classes : list of str, optional
        Class names of the labels.
    """

    classes: list[str] | None
    num_bytes: int = 0
    num_images: int = 0
    stop: float = field(default=0.0)

    def format_records(self, sources: list[ExampleSource]) -> str:
        """Return tiles of the first records of each source if they have images, otherwise a table of their values."""
        _import_image_modules()
        self.stop = thread_time() + _MAX_SECONDS
        count = max(1, _NUM_RECORDS // len(sources))
        records = [
            self._read_record(source, position)
            for source in sources[:_NUM_RECORDS]
            for position in range(min(count, len(source)))
        ]
        if not any(isinstance(record, str) or _find_images(record) for record in records):
            return _format_value_table([record for record in records if not isinstance(record, str)])
        return f"<div>{''.join(map(self._format_record, records))}</div>"

    def _read_record(self, source: ExampleSource, position: int) -> dict[str, Any] | str:
        """Return the features of a record, or a message if the record is damaged or too large for a preview."""
        count_bytes = getattr(source, "count_record_bytes", None)
        try:
            num_bytes = 0 if count_bytes is None else count_bytes(position)
            if num_bytes > _MAX_RECORD_BYTES or self.num_bytes + num_bytes > _MAX_BYTES:
                return f"record {position:,}: {num_bytes:,} bytes, not shown"
            self.num_bytes += num_bytes
            return source.__getitems__([position])[0]
        except Exception as error:  # noqa: BLE001 (an error of one record must not hide the dataset)
            return f"record {position:,}: {_describe_error(error)}"

    def _format_record(self, record: dict[str, Any] | str) -> str:
        if isinstance(record, str):
            return format_tile(format_note(record), "")
        images = _find_images(record)
        caption = format_caption(record, self.classes)
        if not images:
            return format_tile(format_note("no image"), caption)
        return "".join(
            format_tile(self._format_image(data, caption), f"{caption} {name}" if len(images) > 1 else caption)
            for name, data in images.items()
            if self._try_reserve_image_tile()
        )

    def _try_reserve_image_tile(self) -> bool:
        self.num_images += 1
        return self.num_images <= _NUM_RECORDS

    def _format_image(self, data: bytes, caption: str) -> str:
        if thread_time() > self.stop:
            return format_note("not shown, because decoding takes long; show() draws it")
        max_pixels = _MAX_JPEG_PIXELS if find_image_format(data) == "jpeg" else _MAX_OTHER_PIXELS
        try:
            return format_image(
                create_thumbnail(data, _THUMBNAIL_SIZE, _MAX_THUMBNAIL_BYTES, max_pixels=max_pixels), caption
            )
        except ImageError as error:
            reason = "large image, not shown" if error.kind == "limit_exceeded" else error.message
        except MissingExtraError as error:
            reason = f"{error.message}: {error.hint}"
        except Exception as error:  # noqa: BLE001 (an error of one image must not hide the dataset)
            reason = _describe_error(error)
        return format_note(reason)


def _import_image_modules() -> None:
    """Import Pillow, so that the time limit does not include the import."""
    try:
        import_pillow()
    except MissingExtraError:
        return


def _find_images(record: Mapping[str, Any]) -> dict[str, bytes]:
    """Return the features that are encoded images, by name."""
    return {name: value for name, value in record.items() if isinstance(value, bytes) and find_image_format(value)}


def _format_value_table(records: list[dict[str, Any]]) -> str:
    """Return a table of shortened values of the first records."""
    names = list(records[0])[:_MAX_COLUMNS] if records else []
    rows = [[format_value(record[name]) for name in names] for record in records[:_NUM_TABLE_RECORDS]]
    return format_table(names, rows) if names else ""


def _describe_error(error: Exception) -> str:
    return shorten(getattr(error, "message", "") or str(error) or type(error).__name__, 100)
