"""decode_gif: frames as TensorFlow draws them, made here block by block; and PNG files with a transparent colour."""

from __future__ import annotations

import io
import struct

import numpy as np
import pytest
from PIL import Image

import recordmill.compat.tensorflow as tf

COLOURS = np.array([[255, 0, 0], [0, 255, 0], [0, 0, 255], [9, 9, 9]], np.uint8)
# Codes of three bits; behind a "clear" each pixel is its index, and codes grow no longer.
CLEAR, END = 4, 5


def block(place: tuple[int, int, int, int], index: int, *, transparent: int | None = None, dispose: int = 0) -> bytes:
    """A frame of one colour at left, top, of width and height."""
    codes = [code for _ in range(place[2] * place[3]) for code in (CLEAR, index)] + [END]
    stream = sum(code << (3 * number) for number, code in enumerate(codes))
    data = stream.to_bytes(-(-3 * len(codes) // 8), "little")
    control = bytes([0x21, 0xF9, 4, dispose << 2 | (transparent is not None), 0, 0, transparent or 0, 0])
    return control + struct.pack("<B4HB", 0x2C, *place, 0) + bytes([2, len(data)]) + data + b"\0"


def gif(*blocks: bytes, screen: tuple[int, int] = (9, 9)) -> bytes:
    head = b"GIF89a" + struct.pack("<2H3B", *screen, 0x81, 3, 0)
    return head + COLOURS.tobytes() + b"".join(blocks) + b";"


def test_decode_gif_when_the_screen_is_larger_than_its_frames_then_these_say_the_size() -> None:
    frames = tf.io.decode_gif(gif(block((0, 0, 3, 2), 1))).numpy()
    assert frames.shape == (1, 2, 3, 3) and (frames == COLOURS[1]).all()


def test_decode_gif_when_a_frame_asks_to_be_removed_then_it_stays_under_the_next() -> None:
    data = gif(
        block((0, 0, 2, 2), 0),
        block((0, 0, 2, 1), 1, dispose=2),
        block((0, 1, 1, 1), 2, dispose=3),
        block((1, 1, 1, 1), 3),
    )
    found = tf.io.decode_gif(data).numpy()
    expected = COLOURS[np.array([[[0, 0], [0, 0]], [[1, 1], [0, 0]], [[1, 1], [2, 0]], [[1, 1], [2, 3]]])]
    assert (found == expected).all()
    assert (tf.io.decode_image(data, expand_animations=False).numpy() == expected[0]).all()


def test_decode_gif_when_pixels_are_not_drawn_then_what_was_there_stays_and_black_at_first() -> None:
    data = gif(block((1, 0, 2, 1), 2), block((0, 0, 3, 1), 1, transparent=1), block((2, 0, 3, 1), 3))
    found = tf.io.decode_gif(data).numpy()
    assert found[0].tolist() == [[[0, 0, 0], [0, 0, 255], [0, 0, 255]]] == found[1].tolist()
    assert found[2].tolist() == [[[0, 0, 0], [0, 0, 255], [9, 9, 9]]]


def test_decode_gif_when_the_last_frame_is_cut_then_the_others_come() -> None:
    whole = gif(block((0, 0, 2, 2), 0), block((0, 0, 2, 2), 1))
    assert len(tf.io.decode_gif(whole[:-6])) == 1
    with pytest.raises(tf.errors.InvalidArgumentError, match="does not contain any image"):
        tf.io.decode_gif(whole[:30])


def test_decode_gif_when_a_colour_is_missing_then_is_refused() -> None:
    data = (
        gif(block((0, 0, 1, 1), 3)).replace(b"\x81\x03\x00", b"\x80\x03\x00", 1).replace(COLOURS[2:].tobytes(), b"", 1)
    )
    with pytest.raises(tf.errors.InvalidArgumentError, match="found color index 3 outside of color map range 2"):
        tf.io.decode_gif(data)


@pytest.mark.parametrize("mode, stored, transparent", [("L", 1, 7), ("RGB", 3, (7, 7, 7))])
def test_decode_png_when_one_colour_is_transparent_then_it_makes_no_channel(
    mode: str, stored: int, transparent: int | tuple[int, ...]
) -> None:
    file = io.BytesIO()
    Image.fromarray(np.full((2, 3), 7, np.uint8)).convert(mode).save(file, "PNG", transparency=transparent)
    assert tf.io.decode_png(file.getvalue()).shape == [2, 3, stored]
    assert tf.io.decode_png(file.getvalue(), channels=4).numpy()[0, 0].tolist() == [7, 7, 7, 0]
    assert tf.io.decode_image(file.getvalue(), dtype=tf.uint16).shape == [2, 3, stored]
