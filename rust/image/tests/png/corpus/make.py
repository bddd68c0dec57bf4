"""Writes the small PNG files of this folder: every color type, bit depth, filter, interlace, transparency and gamma.

``python make.py`` writes the files (NumPy only); ``judge.py`` then asks Pillow, OpenCV and TensorFlow for their pixels.
"""

import struct
import zlib
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
SAMPLES = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}
DEPTHS = {0: (1, 2, 4, 8, 16), 2: (8, 16), 3: (1, 2, 4, 8), 4: (8, 16), 6: (8, 16)}
NAMES = {0: "grey", 2: "rgb", 3: "palette", 4: "grey_alpha", 6: "rgba"}
ADAM7 = [(0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2)]
WIDTH, HEIGHT = 21, 19


def chunk(kind: bytes, data: bytes) -> bytes:
    """Return a chunk with its length and check value."""
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def pack(row: np.ndarray, depth: int) -> bytes:
    """Return the samples of one row, shape (width, channels), as stored bytes."""
    if depth == 16:
        return row.astype(">u2").tobytes()
    if depth == 8:
        return row.astype(np.uint8).tobytes()
    bits = np.unpackbits(row.astype(np.uint8).reshape(-1, 1), axis=1)[:, 8 - depth :]
    return np.packbits(bits.reshape(-1)).tobytes()


def predict(kind: int, a: int, b: int, c: int) -> int:
    """Return the prediction of filter `kind` from the bytes to the left (a), above (b) and above to the left (c)."""
    if kind == 4:
        p = a + b - c
        return min((abs(p - a), 0, a), (abs(p - b), 1, b), (abs(p - c), 2, c))[2]
    return (0, a, b, (a + b) // 2)[kind]


def filtered(rows: list[bytes], step: int, first: int) -> bytes:
    """Return rows with filter bytes; row `y` uses filter `(first + y) % 5`; a pixel has `step` bytes."""
    out, above = bytearray(), bytes(len(rows[0]))
    for number, row in enumerate(rows):
        kind = (first + number) % 5
        out.append(kind)
        for k, value in enumerate(row):
            a, c = (row[k - step], above[k - step]) if k >= step else (0, 0)
            out.append((value - predict(kind, a, above[k], c)) & 0xFF)
        above = row
    return bytes(out)


def encode(pixels: np.ndarray, depth: int, color: int, *, interlaced: bool = False, before: bytes = b"") -> bytes:
    """Return a PNG file of samples, shape (height, width, channels); `before` are the chunks between IHDR and IDAT."""
    height, width, channels = pixels.shape
    step = max(1, channels * depth // 8)
    passes = ADAM7 if interlaced else [(0, 0, 1, 1)]
    raw = b""
    for number, (x, y, dx, dy) in enumerate(passes):
        part = pixels[y::dy, x::dx]
        if part.size:
            raw += filtered([pack(row, depth) for row in part], step, number)
    head = struct.pack(">IIBBBBB", width, height, depth, color, 0, 0, interlaced)
    image = zlib.compress(raw, 9)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + before + chunk(b"IDAT", image) + chunk(b"IEND", b"")


def palette_chunk(rng: np.random.Generator, entries: int) -> bytes:
    """Return a PLTE chunk of random colors."""
    return chunk(b"PLTE", rng.integers(0, 256, entries * 3, dtype=np.uint8).tobytes())


def random_pixels(rng: np.random.Generator, depth: int, color: int) -> np.ndarray:
    """Return samples, some of them smooth, some noisy, some gray."""
    shape = (HEIGHT, WIDTH, SAMPLES[color])
    pixels = rng.integers(0, 1 << depth, shape)
    ramp = np.add.outer(np.arange(HEIGHT), np.arange(WIDTH))[..., None] * (1 << depth) // (HEIGHT + WIDTH)
    pixels[:, : WIDTH // 2] = ramp[:, : WIDTH // 2]
    return pixels


def plain(rng: np.random.Generator) -> dict[str, bytes]:
    """Return one file per color type, bit depth and interlace."""
    files = {}
    for color, depths in DEPTHS.items():
        for depth in depths:
            pixels = random_pixels(rng, depth, color)
            before = palette_chunk(rng, 1 << depth) if color == 3 else b""
            for interlaced in (False, True):
                name = f"{NAMES[color]}_{depth}{'_adam7' if interlaced else ''}.png"
                files[name] = encode(pixels, depth, color, interlaced=interlaced, before=before)
    return files


def transparent(rng: np.random.Generator) -> dict[str, bytes]:
    """Return files with tRNS chunks; the transparent color is that of one of their pixels."""
    files = {}
    for color, depth in [(0, 1), (0, 2), (0, 4), (0, 8), (0, 16), (2, 8), (2, 16)]:
        pixels = random_pixels(rng, depth, color)
        key = struct.pack(f">{SAMPLES[color]}H", *pixels[3, 15].tolist())
        files[f"{NAMES[color]}_{depth}_key.png"] = encode(pixels, depth, color, before=chunk(b"tRNS", key))
    for depth in (2, 8):
        before = palette_chunk(rng, 1 << depth) + chunk(b"tRNS", bytes([0, 100, 200]))
        files[f"palette_{depth}_alpha.png"] = encode(random_pixels(rng, depth, 3), depth, 3, before=before)
    return files


def with_gamma(rng: np.random.Generator) -> dict[str, bytes]:
    """Return files whose conversion to gray depends on gAMA and sRGB chunks."""
    srgb, files = chunk(b"sRGB", b"\0"), {}
    for value in (30_000, 45_455, 94_999, 95_007, 97_000, 220_000):
        before = chunk(b"gAMA", struct.pack(">I", value))
        files[f"rgb_8_gamma_{value}.png"] = encode(random_pixels(rng, 8, 2), 8, 2, before=before)
    files["rgba_8_srgb.png"] = encode(random_pixels(rng, 8, 6), 8, 6, before=srgb)
    files["grey_8_srgb.png"] = encode(random_pixels(rng, 8, 0), 8, 0, before=srgb)
    files["palette_8_srgb.png"] = encode(random_pixels(rng, 8, 3), 8, 3, before=srgb + palette_chunk(rng, 256))
    other = chunk(b"gAMA", struct.pack(">I", 60_000))
    files["rgb_8_srgb_gamma.png"] = encode(random_pixels(rng, 8, 2), 8, 2, before=srgb + other)
    return files


if __name__ == "__main__":
    generator = np.random.default_rng(20)
    for name, data in {**plain(generator), **transparent(generator), **with_gamma(generator)}.items():
        (HERE / name).write_bytes(data)
