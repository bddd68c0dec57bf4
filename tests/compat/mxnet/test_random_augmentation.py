"""ImageRecordIter with random augmentations and orders of long files, compared with recordings of MXNet."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

import recordmill.compat.mxnet as mx
from recordmill.compat.mxnet.io.order import CHUNK_BYTES, split_span_into_chunks
from recordmill.compat.mxnet.io.random import create_seeded_generator, round_half_away
from tests.compat.mxnet import augmentation_programs as programs
from tests.recorded import RECORDINGS, load_recording

EXPECTED = load_recording("compat/mxnet/drawn/expected.json")
FOLDER = RECORDINGS / "compat" / "mxnet"


@pytest.fixture(scope="module", autouse=True)
def recordings(tmp_path_factory):
    """A copy of the recorded files, and a file of several chunks."""
    folder = tmp_path_factory.mktemp("drawn")
    for path in FOLDER.iterdir():
        if path.suffix in (".rec", ".idx"):
            (folder / path.name).write_bytes(path.read_bytes())
    before = os.getcwd()
    os.chdir(folder)
    programs.write_long(mx, bytes.fromhex(EXPECTED["image"]))
    yield folder
    os.chdir(before)


@pytest.mark.parametrize("name", programs.DRAWN)
def test_seed_aug_repeats_augmentations_of_mxnet(name) -> None:
    assert programs.drawn_iterations(mx, name) == EXPECTED["drawn"][name]


@pytest.mark.parametrize("name", programs.MEANS)
def test_mean_image_equals_mxnet(name, tmp_path) -> None:
    assert programs.mean_images(mx, name, tmp_path) == EXPECTED["means"][name]


def test_mean_image_rejects_other_files(tmp_path) -> None:
    path = str(tmp_path / "mean.nd")
    for saved in (b"", b"no arrays" * 99):
        Path(path).write_bytes(saved)
        with pytest.raises(mx.MXNetError, match="Invalid mean image") as caught:
            mx.io.ImageRecordIter(**{**programs.BASE, "dtype": "float32"}, mean_img=path)
        assert caught.value.shard == path
    assert mx.io.ImageRecordIter(**programs.BASE, mean_img=path).next().data[0].dtype == np.uint8


@pytest.mark.parametrize("number", range(len(programs.ORDERS)))
def test_order_of_several_chunks_equals_mxnet(number) -> None:
    assert programs.long_orders(mx, number) == EXPECTED["orders"][number]


def test_seed_aug_of_several_chunks_equals_mxnet() -> None:
    assert programs.seeded_across_chunks(mx) == EXPECTED["across chunks"]


@pytest.mark.parametrize(
    "name", ["crops", "randomly rotated", "jitter", "all color options", "contrast and illumination, mirrored"]
)
def test_seed_aug_is_independent_of_threads(name) -> None:
    options = {**programs.BASE, **programs.DRAWN[name]}

    def epochs(**other):
        data, found = mx.io.ImageRecordIter(**options, **other), []
        for _ in range(2):
            found += [batch.data[0].asnumpy() for batch in data]
            data.reset()
        return np.concatenate(found)

    np.testing.assert_array_equal(epochs(preprocess_threads=1, prefetch_buffer=0), epochs(preprocess_threads=5))


def test_augmentation_names_broken_image(tmp_path) -> None:
    record = mx.recordio.MXRecordIO(str(tmp_path / "broken.rec"), "w")
    for data in (bytes.fromhex(EXPECTED["image"]), b"\xff\xd8\xff\xe0 no image"):
        record.write(mx.recordio.pack(mx.recordio.IRHeader(0, 0.0, 0, 0), data))
    record.close()
    for extra in ({"rotate": 20}, {"rand_crop": True}):
        found = mx.io.ImageRecordIter(
            path_imgrec=str(tmp_path / "broken.rec"), data_shape=(3, 4, 4), batch_size=2, seed_aug=1, **extra
        )
        with pytest.raises(mx.MXNetError, match="Decoding failed") as caught:
            found.next()
        assert caught.value.record == 1


def test_mersenne_twister_equals_example_of_the_standard() -> None:
    generator = create_seeded_generator(5489)
    words = [generator.next_word() for _ in range(10_000)]
    # ISO C++ 26.6.5.2: the ten thousandth word of a default-constructed std::mt19937.
    assert words[-1] == 4123659995
    assert create_seeded_generator(5489 + 2**32).next_word() == words[0]


def test_random_numbers_are_in_their_ranges() -> None:
    generator = create_seeded_generator(3)
    assert all(-2 <= generator.uniform(-2, 5) < 5 for _ in range(1000))
    assert {generator.integer(-1, 2) for _ in range(200)} == {-1, 0, 1, 2}
    assert {generator.flip_coin() for _ in range(50)} == {True, False}
    assert sorted(generator.permutation(9)) == list(range(9))
    drawn = np.concatenate([generator.normal(3, 2.0) for _ in range(2000)])
    assert abs(drawn.mean()) < 0.1 and abs(drawn.std() - 2) < 0.1
    assert [round_half_away(np.float32(value)) for value in (0.5, 1.5, -0.5, -1.4)] == [1, 2, -1, -1]


def test_chunks_grow_for_long_records() -> None:
    starts = np.array([0, 100, 3 * CHUNK_BYTES, 3 * CHUNK_BYTES + 50])
    size = 5 * CHUNK_BYTES
    assert split_span_into_chunks(starts, (0, 4), size) == [(0, 1), (1, 3), (3, 4)]
    assert split_span_into_chunks(starts, (0, 2), size) == [(0, 1), (1, 2)]
    assert split_span_into_chunks(starts[:0], (0, 0), 0) == []
