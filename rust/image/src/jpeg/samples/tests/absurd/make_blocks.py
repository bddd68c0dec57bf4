"""Writes blocks.bin: coefficients that no encoder writes, and the samples that libjpeg-turbo's x86 SIMD code decodes.

Needs Pillow and TensorFlow (for the fast transform) on x86-64, both with their bundled libjpeg-turbo:
``python make_blocks.py blocks.bin``. The file is a sequence of groups of 16 blocks, little-endian: 64 quantization
steps (u16), 16 x 64 coefficients (i16), both in rows of increasing vertical frequency; then 16 blocks of samples (u8)
each for the accurate transform to 8 x 8, 4 x 4, 2 x 2 and 1 x 1 and for the fast transform to 8 x 8.
"""

import io
import sys
from collections.abc import Iterator

import numpy as np
import tensorflow as tf
from PIL import Image

Array = np.ndarray[tuple[int, ...], np.dtype[np.int64]]
ImageArray = np.ndarray[tuple[int, ...], np.dtype[np.uint8]]

ZIGZAG = sorted(range(64), key=lambda i: (i // 8 + i % 8, i // 8 if (i // 8 + i % 8) % 2 else i % 8))
NUM_GROUPS = 8
BLOCKS = 16


def segment(marker: int, content: bytes) -> bytes:
    """Return a marker segment (T.81 B.1.1.4)."""
    return bytes([0xFF, marker]) + (len(content) + 2).to_bytes(2, "big") + content


def value_bits(value: int) -> tuple[int, str]:
    """Return the category of a coefficient and its extra bits (T.81 F.1.2.1)."""
    size = abs(value).bit_length()
    extra = value if value > 0 else value + (1 << size) - 1
    return size, format(extra, f"0{size}b") if size else ""


def scan_bits(blocks: Array) -> Iterator[str]:
    """Return entropy-coded blocks, with codes of 5 bits for DC categories and of 9 bits for runs and AC categories."""
    before = 0
    for block in blocks:
        size, extra = value_bits(int(block[0]) - before)
        before = int(block[0])
        yield format(size, "05b") + extra
        run = 0
        for place in ZIGZAG[1:]:
            if block[place] == 0:
                run += 1
                continue
            yield format(0xF0, "09b") * (run // 16)
            size, extra = value_bits(int(block[place]))
            yield format(run % 16 << 4 | size, "09b") + extra
            run = 0
        if run:
            yield format(0, "09b")


def gray_jpeg(blocks: Array, quant: Array) -> bytes:
    """Return a gray JPEG of one row of blocks, with 16-bit quantization steps."""
    frame = bytes([8, 0, 8]) + (8 * len(blocks)).to_bytes(2, "big") + bytes([1, 1, 0x11, 0])
    codes_of_5 = bytes(16 if length == 5 else 0 for length in range(1, 17)) + bytes(range(16))
    codes_of_9 = bytes(255 if length == 9 else 0 for length in range(1, 17)) + bytes(range(255))
    bits = "".join(scan_bits(blocks))
    bits += "1" * (-len(bits) % 8)
    scan = int(bits, 2).to_bytes(len(bits) // 8, "big").replace(b"\xff", b"\xff\x00")
    return b"".join(
        [
            b"\xff\xd8",
            segment(0xDB, b"\x10" + b"".join(int(quant[place]).to_bytes(2, "big") for place in ZIGZAG)),
            segment(0xC1, frame),
            segment(0xC4, b"\x00" + codes_of_5),
            segment(0xC4, b"\x10" + codes_of_9),
            segment(0xDA, bytes([1, 1, 0, 0, 63, 0])),
            scan,
            b"\xff\xd9",
        ]
    )


def random_blocks(random: np.random.Generator) -> tuple[Array, Array]:
    """Return 16 random blocks (dense, sparse, with one or two rows, or with DC only), and random quantization steps."""
    bits = random.integers(8, 15)
    blocks = random.integers(-(1 << bits) + 1, 1 << bits, (BLOCKS, 64))
    blocks[4:10][random.random((6, 64)) < 0.9] = 0
    blocks[10:12, 8:] = 0
    blocks[12:14, 8:32] = 0
    blocks[12:14, 40:] = 0
    blocks[14:, 1:] = 0
    blocks[:, 0] = np.clip(blocks[:, 0], -(1 << 13), 1 << 13)
    quant = random.integers(1, random.choice([4, 16, 256, 65536]), 64)
    return blocks, quant


def decode_blocks(file: bytes, edge: int) -> bytes:
    """Return the samples of each block, decoded by Pillow to `edge` x `edge` samples."""
    image = Image.open(io.BytesIO(file))
    if edge < 8:
        image.draft("L", (BLOCKS * edge, edge))
    return split_into_blocks(np.asarray(image), edge)


def split_into_blocks(image: ImageArray, edge: int) -> bytes:
    """Return the samples of a row of blocks as bytes, block after block."""
    if image.shape != (edge, BLOCKS * edge):
        raise ValueError(f"expected {edge} x {BLOCKS * edge} samples, found {image.shape}")
    return image.reshape(edge, BLOCKS, edge).transpose(1, 0, 2).tobytes()


def main() -> None:
    """Write the blocks and samples to the file that the command line names."""
    random = np.random.default_rng(1)
    with open(sys.argv[1], "wb") as out:
        for _ in range(NUM_GROUPS):
            blocks, quant = random_blocks(random)
            file = gray_jpeg(blocks, quant)
            out.write(quant.astype("<u2").tobytes() + blocks.astype("<i2").tobytes())
            out.writelines(decode_blocks(file, edge) for edge in (8, 4, 2, 1))
            out.write(split_into_blocks(tf.io.decode_jpeg(file, dct_method="INTEGER_FAST").numpy()[..., 0], 8))


main()
