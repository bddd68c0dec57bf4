"""Read the image files from which the results are computed."""

from __future__ import annotations

from pathlib import Path

FOLDER = Path(__file__).parents[2] / "tests" / "behavior" / "images"
COLOR_JPEGS = ("photo_420", "photo_444", "photo_422", "progressive", "restart", "large", "rotated")
JPEGS = (*COLOR_JPEGS, "gray", "cmyk")
PNGS = ("rgb", "rgba", "mask_palette", "mask_gray", "bilevel")
MASKED = ("photo_422", "mask_palette")  # an image and a mask of one size


def read_image(name: str) -> bytes:
    """Return the bytes of an image file, named without its extension."""
    path = FOLDER / f"{name}.jpg"
    return (path if path.exists() else FOLDER / f"{name}.png").read_bytes()


def read_images(names: tuple[str, ...]) -> list[bytes]:
    """Return the bytes of several image files."""
    return [read_image(name) for name in names]
