"""Take the screenshots of the viewer for the documentation: `python -m tools.screenshots`.

Needs Chromium and the dependency groups `browser` and `demo`.
"""

from __future__ import annotations

import contextlib
import io
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import numpy as np

import recordmill as rm
from recordmill.demo.images import load_photo

FOLDER = Path(__file__).parents[1] / "docs" / "images"
PHOTOS = {
    "cat": "skimage/data/chelsea.png",
    "person": "skimage/data/astronaut.png",
    "coffee": "skimage/data/coffee.png",
    "temple": "sklearn/datasets/images/china.jpg",
    "flower": "sklearn/datasets/images/flower.jpg",
}
# Name of the picture, address of the page, height of the window, color scheme, and what has to be visible.
PAGES: tuple[tuple[str, str, int, Literal["light", "dark"], str], ...] = (
    ("viewer-grid", "#/grid?where=width > 200&sort=width", 700, "light", "#cell-6 img"),
    ("viewer-record", "#/record/12", 1250, "light", ".samples img"),
    ("viewer-overview", "#/overview", 1250, "dark", "text=no damage"),
)
NUM_RECORDS = 400
# Share of the pixels that a mask marks.
_MARKED = 0.25


def create_examples() -> Iterator[dict[str, Any]]:
    """Yield windows of photographs with a class, a mask of their brightest pixels, and the box around its middle."""
    generator = np.random.default_rng(0)
    photos = [load_photo(name) for name in PHOTOS.values()]
    for number in range(NUM_RECORDS):
        label = int(generator.choice(len(photos), p=[0.35, 0.25, 0.2, 0.12, 0.08]))
        photo = photos[label]
        width = int(generator.integers(160, min(photo.size)))
        height = int(width * generator.uniform(0.7, 1))
        x, y = (
            int(generator.integers(0, side - size + 1)) for side, size in zip(photo.size, (width, height), strict=True)
        )
        window = photo.crop((x, y, x + width, y + height))
        levels = np.asarray(window.convert("L"))
        mask = (levels > np.quantile(levels, 1 - _MARKED)).astype(np.uint8) * (label + 1)
        rows, columns = (np.quantile(np.flatnonzero(mask.any(axis)), [0.2, 0.8]) for axis in (1, 0))
        yield {
            "image": _encode(window, "JPEG"),
            "mask": _encode_array(mask),
            "label": label,
            "key": f"{list(PHOTOS)[label]}/{number:04}.jpg",
            "width": width,
            "height": height,
            "boxes": np.array([columns[0], rows[0], columns[1], rows[1]], np.float32),
        }


def _encode(image: Any, name: str) -> bytes:
    file = io.BytesIO()
    image.convert("RGB" if name == "JPEG" else image.mode).save(file, name)
    return file.getvalue()


def _encode_array(mask: Any) -> bytes:
    from PIL import Image

    return _encode(Image.fromarray(mask), "PNG")


def write_shards(folder: Path) -> None:
    """Write the examples to four shards with class names."""
    rm.pack(list(create_examples()), folder / "train", shards=4)
    (folder / "labels.txt").write_text("\n".join(PHOTOS) + "\n")


def take_screenshots(folder: Path) -> None:
    """Open the pages of the viewer in Chromium and save a picture of each."""
    from PIL import Image
    from playwright.sync_api import sync_playwright

    pipeline = rm.open(folder).decode(
        image=rm.Image(crop=rm.RandomResizedCrop(160), flip=True, color=[rm.ColorJitter(0.3, 0.3, 0.3)]),
        mask=rm.Mask(),
        boxes=rm.Boxes(),
        seed=1,
    )
    with sync_playwright() as playwright, rm.view(pipeline, browser=False) as viewer:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"))
        for name, address, height, scheme, selector in PAGES:
            page = browser.new_page(viewport={"width": 1180, "height": height}, color_scheme=scheme)
            page.goto(viewer.url + address)
            page.wait_for_selector(selector)
            page.wait_for_load_state("networkidle")
            picture = Image.open(io.BytesIO(page.screenshot()))
            picture.quantize(256).save(FOLDER / f"{name}.png", optimize=True)
        browser.close()


def main() -> None:
    """Write the shards to a temporary folder, and save the screenshots in docs/images."""
    # The title of the page is the path of the shards, which is shorter in the current folder.
    with tempfile.TemporaryDirectory() as name, contextlib.chdir(name):
        write_shards(Path("photos"))
        take_screenshots(Path("photos"))


if __name__ == "__main__":
    main()
