"""Contact sheets, which show the images of several samples in one image, each above its label."""

from __future__ import annotations

import io
import os
from collections.abc import Sequence
from functools import cache
from itertools import islice
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Any
from unicodedata import normalize

from recordmill.decode.pillow import import_pillow
from recordmill.decode.specs.image import Image as ImageSpec
from recordmill.errors import RecordmillError
from recordmill.pipeline.checks import check_integer
from recordmill.pipeline.stages.decode import Decode
from recordmill.pipeline.stages.map import Map
from recordmill.pipeline.tiles import Sample, Tile, TileOptions, create_tiles, find_masks, split_batch, split_columns
from recordmill.suggestions import suggest_arguments

if TYPE_CHECKING:
    from PIL.Image import Image

    from recordmill.pipeline.dataset import Dataset

_MAX_IMAGES = 1000
# Lengths in pixels.
_SIDE, _GAP, _FONT_SIZE, _LINE_HEIGHT = 160, 8, 12, 18
_MAX_COLUMNS = 6
_BACKGROUND, _TEXT_COLOR, _NOTE_COLOR = (255, 255, 255), (30, 30, 30), (235, 235, 235)
_MAX_NOTE_LINES = 7
# Files that Pillow looks for in the font folders of the system.
_FONTS = ("DejaVuSans.ttf", "NotoSans-Regular.ttf", "LiberationSans-Regular.ttf", "arial.ttf", "Arial Unicode.ttf")


class ContactSheet:
    """An image made of several images, each above its label. Notebooks show it; `show` and `Dataset.show` create it.

    Parameters
    ----------
    image : PIL.Image.Image
        The whole sheet.
    captions : list of str
        Text below each image, in order.
    errors : list of str
        Messages that are shown in place of images.
    """

    def __init__(self, image: Image, captions: Sequence[str], errors: Sequence[str] = ()) -> None:
        self.image = image
        self.captions = list(captions)
        self.errors = list(errors)

    def __len__(self) -> int:
        """Return the number of images."""
        return len(self.captions)

    def __repr__(self) -> str:
        """Return a text with the number of images and the size of the sheet."""
        return f"ContactSheet({len(self)} images, {self.image.width} x {self.image.height} pixels)"

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the sheet to an image file.

        Parameters
        ----------
        path : path
            The suffix selects the format, such as ``.png`` or ``.jpg``. An existing file is replaced.

        Raises
        ------
        ValueError
            If Pillow does not write files with this suffix.

        Examples
        --------
        >>> rm.open("train.tfrecord").show().save("sheet.png")
        """
        file = io.BytesIO()
        file.name = os.fspath(path)  # Pillow selects the format by the suffix of this name.
        self.image.save(file)
        Path(path).write_bytes(file.getvalue())

    def _repr_png_(self) -> bytes:
        """Return the sheet as PNG, for notebooks."""
        file = io.BytesIO()
        self.image.save(file, "PNG")
        return file.getvalue()


@suggest_arguments
def show(batch: Any, n: int = 64, *, classes: Sequence[str] | None = None) -> ContactSheet:
    """Draw the images of a batch or of samples on a contact sheet. Requires Pillow.

    Parameters
    ----------
    batch : mapping, array_like, sequence or Dataset
        A batch from a loader (a dict of arrays, or a pair of images and labels), one sample, a list of samples, a list
        of arrays, a list of encoded images, or an array of one or several images. Channels may be first or last. Float
        images with values from 0 to 1 keep their brightness; other float images are scaled from their minimum and
        maximum.
    n : int
        Maximum number of samples.
    classes : sequence of str, optional
        Class names in the order of the label numbers.

    Returns
    -------
    ContactSheet
        Damaged images are replaced by the message of their error.

    Raises
    ------
    FeatureError
        If the samples have no images.
    MissingExtraError
        If Pillow is not installed.
    TypeError
        If `batch` has the wrong type.

    Examples
    --------
    >>> batch = rm.open("train.tfrecord").decode(image=rm.Image(resize=(32, 32))).batch(4)[0]
    >>> rm.show(batch)
    ContactSheet(4 images, 680 x 194 pixels)
    """
    import_pillow()
    count = _check_count(n)
    if hasattr(batch, "batch_stage"):
        return draw_dataset(batch, count)
    return _draw_sheet(create_tiles(split_batch(batch, count), TileOptions(_SIDE, classes)))


def draw_dataset(dataset: Dataset, n: int) -> ContactSheet:
    """Draw the first samples of a dataset. The decode specs are used to invert the normalization."""
    import_pillow()
    count = _check_count(n)
    samples = _read_samples(dataset, count)
    decodes = [number for number, stage in enumerate(dataset.stages) if isinstance(stage, Decode)]
    specs: dict[str, Any] = {}
    for number in decodes:
        specs |= dict(dataset.stages[number].specs)
    # After a `map` stage, the decode specs may no longer describe the pixels.
    is_mapped = any(isinstance(stage, Map) for stage in dataset.stages[decodes[-1] if decodes else 0 :])
    images = {} if is_mapped else {name: spec for name, spec in specs.items() if isinstance(spec, ImageSpec)}
    return _draw_sheet(create_tiles(samples, TileOptions(_SIDE, dataset.classes, images, find_masks(specs))))


def _check_count(count: Any) -> int:
    return check_integer(count, f"n must be an integer from 1 to {_MAX_IMAGES:,}", 1, _MAX_IMAGES + 1)


def _read_samples(dataset: Dataset, count: int) -> list[Sample | RecordmillError]:
    """Read the first samples, even of a batched dataset. Return an error in place of each damaged sample."""
    samples: list[Sample | RecordmillError] = []
    for element in _read_elements(dataset, count):
        if isinstance(element, RecordmillError) or dataset.batch_stage is None:
            samples.append(element)
        else:
            samples += split_columns(element, count - len(samples))
        if len(samples) >= count:
            break
    return samples


def _read_elements(dataset: Dataset, count: int) -> Any:
    """Yield the first elements. Yield an error in place of each element that cannot be read."""
    if dataset.pipeline.has_filter or dataset.pipeline.length is None:
        yield from islice(dataset, count)
        return
    for position in range(min(count, len(dataset))):
        try:
            yield dataset.fetch([position])[0]
        except RecordmillError as error:
            yield error


def _draw_sheet(tiles: Sequence[Tile]) -> ContactSheet:
    pillow = import_pillow()
    num_columns = max(1, min(len(tiles), _MAX_COLUMNS))
    num_rows = max(1, -(-len(tiles) // num_columns))
    width, height = _SIDE + _GAP, _SIDE + _LINE_HEIGHT + _GAP
    sheet = pillow.new("RGB", (_GAP + num_columns * width, _GAP + num_rows * height), _BACKGROUND)
    for number, tile in enumerate(tiles or [Tile("no samples", "")]):
        row, column = divmod(number, num_columns)
        _draw_tile(sheet, tile, _GAP + column * width, _GAP + row * height)
    errors = [tile.content for tile in tiles if isinstance(tile.content, str)]
    return ContactSheet(sheet, [tile.caption for tile in tiles], errors)


def _draw_tile(sheet: Image, tile: Tile, left: int, top: int) -> None:
    from PIL import ImageDraw

    draw = ImageDraw.Draw(sheet)
    if isinstance(tile.content, str):
        draw.rectangle((left, top, left + _SIDE - 1, top + _SIDE - 1), _NOTE_COLOR)
        for number, line in enumerate(wrap(tile.content, 24)[:_MAX_NOTE_LINES]):
            _draw_text(draw, line, left + _SIDE // 2, top + 12 + number * _LINE_HEIGHT)
    else:
        image = _fit_image(tile.content)
        sheet.paste(image, (left + (_SIDE - image.width) // 2, top + (_SIDE - image.height) // 2))
    _draw_text(draw, tile.caption, left + _SIDE // 2, top + _SIDE + 2)


def _fit_image(pixels: Any) -> Image:
    """Scale an image to the size of a tile; small images are enlarged by an integer factor to keep pixels sharp."""
    pillow = import_pillow()
    image: Image = pillow.fromarray(pixels[:, :, 0] if pixels.shape[2] == 1 else pixels)
    factor = _SIDE // max(image.size)
    if factor > 1:
        return image.resize((image.width * factor, image.height * factor), pillow.Resampling.NEAREST)
    image.thumbnail((_SIDE, _SIDE))
    return image


@cache
def _load_font() -> tuple[Any, bool]:
    """Return a font, and True if the font supports more than ASCII. The built-in font of Pillow supports only ASCII."""
    from PIL import ImageFont

    for name in _FONTS:
        try:
            return ImageFont.truetype(name, _FONT_SIZE), True
        except OSError:
            continue
    return ImageFont.load_default(_FONT_SIZE), False


def _draw_text(draw: Any, text: str, center: int, top: int) -> None:
    """Draw one line of text, which is shortened to the width of a tile."""
    font, has_unicode = _load_font()
    if not has_unicode:
        text = normalize("NFKD", text).encode("ascii", "replace").decode()
    shown = text
    while shown and draw.textlength(shown, font) > _SIDE:
        text = text[:-1]
        shown = f"{text}..."
    draw.text((center - draw.textlength(shown, font) // 2, top), shown, _TEXT_COLOR, font)
