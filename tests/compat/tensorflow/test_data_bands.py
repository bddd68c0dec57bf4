"""tf.data: samples done a few after the other, arithmetic in place, pixels moved first, lines taken apart together."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import recordmill as rm
import recordmill.compat.tensorflow as tf
from recordmill.compat.tensorflow.data.bands import Band, Gathered, rows_of
from recordmill.compat.tensorflow.data.base import steps
from recordmill.compat.tensorflow.data.elements import Failed
from recordmill.compat.tensorflow.data.pictures import Picture
from recordmill.compat.tensorflow.data.planning import steps_of
from recordmill.compat.tensorflow.data.recording import Replay
from recordmill.compat.tensorflow.data.rules import Whole
from recordmill.compat.tensorflow.data.structures import leaves
from recordmill.compat.tensorflow.data.tracing import record
from recordmill.compat.tensorflow.data.whole import WholeProgram
from tests.compat.tensorflow.test_data_native import check_equal

Image = pytest.importorskip("PIL.Image")


def encoded(shape: tuple[int, ...], kind: str, number: int = 0) -> bytes:
    pixels = np.random.default_rng(number).integers(0, 256, shape, np.uint8)
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, kind)
    return file.getvalue()


def arrays_of(shape: tuple[int, ...], dtype: str, count: int, start: int) -> list[tf.Tensor]:
    return [tf.constant(np.full(shape, start + row, dtype)) for row in range(count)]


@given(
    parts=st.lists(
        st.tuples(
            st.integers(1, 3), st.sampled_from([(2,), (2, 3)]), st.sampled_from(["float32", "int64"]), st.integers(0, 2)
        ),
        min_size=1,
        max_size=5,
    )
)
def test_gathered_when_parts_come_in_any_form_then_has_all_rows(parts: list[Any]) -> None:
    total = sum(count for count, *_ in parts)
    gathered, expected = Gathered(total, rm.Memory(0)), []
    for count, shape, dtype, form in parts:
        rows = arrays_of(shape, dtype, count, len(expected))
        expected += rows
        if form == 0:
            gathered.add(rows, count)
            continue
        whole = np.stack([row.numpy() for row in rows])
        if form == 2:
            room = gathered.room(whole.shape, whole.dtype)
            room[...] = whole
            whole = room
        gathered.add(Whole(whole), count)
    column = gathered.column()
    assert isinstance(column, Whole) == (len({(shape, dtype) for _, shape, dtype, _ in parts}) == 1)
    found = rows_of(column, total)
    assert len(found) == total
    for one, other in zip(found, expected, strict=True):
        assert one.dtype == other.dtype
        np.testing.assert_array_equal(one.numpy(), other.numpy())


@given(count=st.integers(0, 300), num_bytes=st.integers(0, 8 << 20))
def test_band_when_samples_are_large_then_few_are_done_together(count: int, num_bytes: int) -> None:
    band = Band()
    band.note([Whole(np.empty((2, num_bytes // 2), np.uint8))], 2)
    bounds = list(band.bounds(count))
    assert [row for start, stop in bounds for row in range(start, stop)] == list(range(count))
    largest = max((stop - start for start, stop in bounds), default=1)
    assert largest == 1 or largest * (num_bytes // 2) <= 4 << 20


OPERATIONS: dict[str, Callable[[Any, Any], Any]] = {
    **{name: getattr(tf, name) for name in ("add", "subtract", "multiply", "maximum", "minimum", "truediv")},
    "divide": lambda one, other: one / other,
    "clip": lambda one, other: tf.clip_by_value(tf.add(one, other), -0.5, 9.0),
    "clip by channel": lambda one, other: tf.clip_by_value(one * other, [-1.0, 0.0, 1.0], 2.0),
}


@settings(max_examples=40, deadline=None)
@given(
    links=st.lists(
        st.tuples(
            st.sampled_from(sorted(OPERATIONS)),
            st.booleans(),
            st.sampled_from(["number", "vector", "tensor", "image", "nan"]),
        ),
        min_size=1,
        max_size=5,
    ),
    shape=st.sampled_from([(3,), (4, 3), (5, 4, 3), (70, 90, 3)]),
    dtype=st.sampled_from([np.float32, np.uint8]),
)
def test_chain_when_links_are_random_then_equals_the_operations(
    links: list[Any], shape: tuple[int, ...], dtype: Any
) -> None:
    values = np.random.default_rng(len(shape)).integers(0, 255, (7, *shape)).astype(dtype)
    constants: dict[str, Any] = {
        "number": 2.5,
        "vector": [0.1, -2.0, 0.0],
        "tensor": tf.constant(0.3),
        "image": np.linspace(-1, 1, 3).reshape(1, 1, 3),
        "nan": float("nan"),
    }

    def function(value: Any) -> Any:
        made = tf.cast(tf.image.flip_left_right(value) if len(shape) == 3 else value, tf.float32)
        for name, is_left, constant in links:
            other = constants[constant]
            made = OPERATIONS[name](*((other, made) if is_left else (made, other)))
        return made

    program = record(function, tf.TensorSpec(shape, values.dtype))
    rows = list(map(tf.constant, values))
    expected = [Replay(program)(row).numpy() for row in rows]
    for column in (Whole(values), rows):
        [found] = WholeProgram(program).run([column], [(row,) for row in range(len(rows))])
        made = [row.numpy() for row in rows_of(found, len(rows))]
        assert made[0].dtype == expected[0].dtype
        np.testing.assert_array_equal(np.stack(made), np.stack(expected))


def test_chain_when_samples_are_numbers_then_equals_the_operations() -> None:
    program = record(
        lambda value: tf.clip_by_value(1.0 - tf.cast(value, tf.float32) / 4.0, -2.0, 0.5), tf.TensorSpec([])
    )
    rows = [tf.constant(number, tf.float32) for number in range(9)]
    for column in (rows, Whole(np.arange(9, dtype=np.float32))):
        [found] = WholeProgram(program).run([column], [(row,) for row in range(9)])
        assert [row.numpy() for row in rows_of(found, 9)] == [Replay(program)(row).numpy() for row in rows]


MOVES: dict[str, Callable[[Any], Any]] = {
    "middle": lambda image: tf.image.central_crop(image, 0.6),
    "cut": lambda image: tf.image.crop_to_bounding_box(image, 1, 0, 4, 5),
    "cut by chance": lambda image: tf.image.random_crop(image, [4, 4, 2], seed=3),
    "mirrored": tf.image.flip_left_right,
    "by chance": lambda image: tf.image.random_flip_up_down(image, seed=2),
    "turned": lambda image: tf.image.rot90(image, 3),
    "other way": tf.image.transpose,
    "filled": lambda image: tf.image.resize_with_crop_or_pad(image, 8, 7),
    "framed": lambda image: tf.image.pad_to_bounding_box(image, 2, 1, 13, 14),
    "resized": lambda image: tf.image.resize(image, [6, 5]),
    "nearest": lambda image: tf.image.resize(image, [6, 5], method="nearest"),
}
FLOATS: dict[str, Callable[[Any], Any]] = {
    "cast": lambda image: tf.cast(image, tf.float32),
    "converted": lambda image: tf.image.convert_image_dtype(image, tf.float32),
    "scaled": lambda image: tf.cast(image, tf.float32) / 127.5 - 1.0,
    "by channel": lambda image: tf.cast(image, tf.float32) - tf.constant([1.0, 2.0, 3.0]),
    "as they are": lambda image: image,
}


@settings(max_examples=80, deadline=None)
@given(
    floats=st.sampled_from(sorted(FLOATS)),
    moves=st.lists(st.sampled_from(sorted(MOVES)), min_size=1, max_size=3),
    late=st.sampled_from(sorted(FLOATS)),
)
def test_moves_when_done_before_arithmetic_then_give_the_same(floats: str, moves: list[str], late: str) -> None:
    files = [encoded((9, 10, 3), "PNG", number) for number in range(6)]

    def function(data: Any) -> Any:
        image = FLOATS[floats](tf.io.decode_png(data, channels=3))
        for name in moves:
            image = MOVES[name](image)
        return FLOATS["as they are" if "cut by chance" in moves and late == "by channel" else late](image)

    check_equal(lambda: tf.data.Dataset.from_tensor_slices(files).map(function).batch(6))


def test_calls_when_planned_then_pixels_are_moved_before_they_are_floats() -> None:
    def function(data: Any) -> Any:
        image = tf.image.convert_image_dtype(tf.io.decode_jpeg(data, channels=3), tf.float32)
        return tf.image.flip_left_right(tf.image.central_crop(image, 0.5)) * 2.0

    def cast(data: Any) -> Any:
        return tf.image.resize(tf.cast(tf.io.decode_jpeg(data, channels=3), tf.float32), [4, 4])

    spec = tf.TensorSpec([], tf.string)
    picture, middle, flip, chain = steps_of(record(function, spec))
    assert isinstance(picture, Picture) and (middle.name, flip.name) == ("image.central_crop", "image.flip_left_right")
    assert [call.name for call in chain.calls] == ["image.convert_image_dtype", "math.multiply"]
    [picture] = steps_of(record(cast, spec))
    assert [call.name for call in picture.calls] == ["io.decode_jpeg", "image.resize"]


LINES: dict[str, Callable[[Any], Any]] = {
    "columns": lambda line: tf.io.decode_csv(line, [0, 0.5, "none"]),
    "one column": lambda line: tf.io.decode_csv(line, [""], select_cols=[2])[0],
    "numbers": lambda line: tf.strings.to_number(tf.io.decode_csv(line, ["", "", ""])[0], tf.int64) + 1,
    "words": lambda line: tf.strings.length(tf.strings.upper(tf.io.decode_csv(line, [0, 0.0, ""])[2])),
}


@pytest.mark.parametrize("broken", [None, 75])
@pytest.mark.parametrize("name", LINES)
def test_lines_when_read_together_then_are_those_read_one_by_one(name: str, broken: int | None) -> None:
    lines = [f"{number},{number / 3 if number % 5 else ''},name {number}".encode() for number in range(100)]
    if broken is not None:
        lines[broken] = b"not,enough"
    found = []
    for together in (True, False):
        made = steps(tf.data.Dataset.from_tensor_slices(lines).map(LINES[name]), whole_batches=together)
        found.append([told(step) for step in made])
    assert found[0] == found[1] and len(found[0]) == 100
    assert [place for place, one in enumerate(found[0]) if isinstance(one, str)] == [broken] * (broken is not None)


def told(step: Any) -> Any:
    return str(step.error) if isinstance(step, Failed) else [leaf.values.tolist() for leaf in leaves(step.value)]
