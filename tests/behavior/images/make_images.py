"""Write the images of the behavior tests beside this file. Made once with Pillow 13.0; the files are committed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from PIL import Image

FOLDER = Path(__file__).parent


def make_photo(seed: int, width: int, height: int) -> Image.Image:
    """Return smooth color gradients with a rectangle and some noise."""
    rng = np.random.default_rng(seed)
    y, x = np.mgrid[:height, :width].astype(np.float64)
    waves = [127 + 120 * np.sin(x * rng.uniform(0.02, 0.15) + y * rng.uniform(0.02, 0.15)) for _ in range(3)]
    pixels = np.stack(waves, axis=-1)
    pixels[height // 4 : height // 2, width // 3 : width // 2] = rng.integers(0, 256, 3)
    pixels += rng.normal(0, 8, pixels.shape)
    return Image.fromarray(pixels.clip(0, 255).astype(np.uint8))


def make_jpegs() -> None:
    make_photo(0, 97, 61).save(FOLDER / "photo_420.jpg", quality=90, subsampling="4:2:0")
    make_photo(1, 64, 80).save(FOLDER / "photo_444.jpg", quality=85, subsampling="4:4:4")
    make_photo(2, 75, 50).save(FOLDER / "photo_422.jpg", quality=80, subsampling="4:2:2")
    make_photo(3, 90, 70).save(FOLDER / "progressive.jpg", quality=85, progressive=True)
    make_photo(4, 120, 90).save(FOLDER / "restart.jpg", quality=85, restart_marker_rows=1)
    make_photo(5, 300, 220).save(FOLDER / "large.jpg", quality=75)
    make_photo(6, 60, 64).convert("L").save(FOLDER / "gray.jpg", quality=85)
    make_photo(7, 60, 56).convert("CMYK").save(FOLDER / "cmyk.jpg", quality=85)
    exif = Image.Exif()
    exif[0x0112] = 6
    make_photo(8, 70, 52).save(FOLDER / "rotated.jpg", quality=85, exif=exif)


def make_pngs() -> None:
    make_photo(9, 50, 66).save(FOLDER / "rgb.png")
    rgba = make_photo(10, 40, 44)
    rgba.putalpha(Image.fromarray(np.arange(40 * 44, dtype=np.uint16).astype(np.uint8).reshape(44, 40)))
    rgba.save(FOLDER / "rgba.png")
    classes = np.random.default_rng(11).integers(0, 21, (7, 8)).astype(np.uint8).repeat(8, 0).repeat(10, 1)[:, :75]
    mask = Image.fromarray(classes[:50])
    mask.putpalette(np.random.default_rng(12).integers(0, 256, 768).astype(np.uint8).tobytes())
    mask.save(FOLDER / "mask_palette.png")
    Image.fromarray(classes[:50] * 3).save(FOLDER / "mask_gray.png")
    Image.fromarray((np.arange(48 * 36) * 37 % 65536).astype(np.uint16).reshape(36, 48)).save(FOLDER / "gray16.png")
    Image.fromarray(np.random.default_rng(13).integers(0, 2, (30, 42)).astype(bool)).save(FOLDER / "bilevel.png")


if __name__ == "__main__":
    make_jpegs()
    make_pngs()
