"""ImageDetRecordIter with random crops, padding, mirrors and colors, compared with recordings of MXNet."""

from __future__ import annotations

import itertools
import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import recordmill.compat.mxnet as mx
from recordmill.compat.mxnet.io import order
from recordmill.compat.mxnet.io.random import LibstdcxxGenerator
from tests.compat.mxnet.detection_augmentation_programs import NUM_IMAGES, PROGRAMS, SSD, pack_images
from tests.recorded import load_recording

# Seed of the generator of MXNet's first thread.
MXNET_SEED = 233


@pytest.fixture
def random_numbers_of_mxnet(monkeypatch) -> None:
    """Draw from one generator for one image after another, as in MXNet with one thread."""
    generator = np.random.RandomState(MXNET_SEED)
    numbers = LibstdcxxGenerator(generator.randint(0, 2**32, 100, dtype=np.uint32) for _ in itertools.count())
    monkeypatch.setattr(order, "create_image_generators", lambda draws, positions: [numbers] * len(positions))


@pytest.mark.usefixtures("random_numbers_of_mxnet")
@pytest.mark.parametrize("name", [*PROGRAMS])
def test_detection_augmentations_equal_mxnet(name: str, tmp_path: Path) -> None:
    found = json.loads(json.dumps(PROGRAMS[name](mx, str(tmp_path))))
    assert found == load_recording("compat/mxnet/drawn_boxes/expected.json")[name]


def epochs(folder: Path, count: int = 2, **options: Any) -> list[Any]:
    parameters = {"data_shape": (3, 32, 40), "batch_size": 5, **SSD, **options}
    data, found = mx.io.ImageDetRecordIter(path_imgrec=pack_images(mx, folder), **parameters), []
    for _ in range(count):
        found.append([(batch.data[0].asnumpy(), batch.label[0].asnumpy()) for batch in data])
        data.reset()
    return found


def same(first: Any, second: Any) -> bool:
    pairs = zip(first, second, strict=True)
    return all(np.array_equal(one, other) for mine, yours in pairs for one, other in zip(mine, yours, strict=True))


def test_detection_depends_on_seed_and_epoch_only(tmp_path: Path) -> None:
    first, second = epochs(tmp_path, seed=3)
    assert not same(first, second)
    assert same(first, epochs(tmp_path, seed=3, preprocess_threads=1, prefetch_buffer=0)[0])
    assert not same(first, epochs(tmp_path, seed=4)[0])


def test_crop_of_padding_has_fill_value(tmp_path: Path) -> None:
    path, label = str(tmp_path / "none.rec"), [2, 5, 0, 0.5, 0.5, 0.5, 0.5]
    record = mx.recordio.MXRecordIO(path, "w")
    for number in range(40):
        pixels = np.full((9, 11, 3), 250, np.uint8)
        record.write(mx.recordio.pack_img(mx.recordio.IRHeader(0, label, number, 0), pixels, img_fmt=".png"))
    record.close()
    data = mx.io.ImageDetRecordIter(
        path_imgrec=path, data_shape=(3, 6, 7), batch_size=40, rand_pad_prob=1, max_pad_scale=4, rand_crop_prob=1,
        max_crop_scales=(0.2,), rand_mirror_prob=0.5, fill_value=9,
    )  # fmt: skip
    levels = data.next().data[0].asnumpy().reshape(40, -1)
    assert 10 < (levels == 9).all(axis=1).sum() < 40 and set(np.unique(levels[:, 0])) <= set(range(9, 251))


def test_pickled_detection_iterator_draws_the_same(tmp_path: Path) -> None:
    data = mx.io.ImageDetRecordIter(path_imgrec=pack_images(mx, tmp_path), data_shape=(3, 32, 40), batch_size=5, **SSD)
    again = pickle.loads(pickle.dumps(data))
    assert np.array_equal(data.next().data[0], again.next().data[0])


def test_detection_fills_last_batch_with_zeros(tmp_path: Path) -> None:
    [[_, _, (data, labels)]] = epochs(tmp_path, 1, round_batch=False)
    left = NUM_IMAGES - 10
    assert not data[left:].any() and not labels[left:].any() and labels[:left].any(axis=1).all()


def test_detection_drops_or_rejects_invalid_boxes(tmp_path: Path) -> None:
    rng, values = np.random.RandomState(6), np.array([np.nan, np.inf, -np.inf, 0, 2, 5, 1e30, -1, 0.3, 0.7], np.float32)
    pixels, path = np.zeros((9, 11, 3), np.uint8), str(tmp_path / "odd.rec")
    for _ in range(25):
        boxes = np.where(rng.rand(10) < 0.6, rng.choice(values, 10), rng.rand(10))
        head = [2, 5] if rng.rand() < 0.8 else rng.choice(values, 2).tolist()
        record = mx.recordio.MXRecordIO(path, "w")
        header = mx.recordio.IRHeader(0, [*head, *boxes.tolist()], 0, 0)
        record.write(mx.recordio.pack_img(header, pixels, img_fmt=".png"))
        record.close()
        data = mx.io.ImageDetRecordIter(
            path_imgrec=path, data_shape=(3, 6, 7), batch_size=1, **SSD | {"max_pad_scale": 2}
        )
        try:
            label = data.next().label[0].asnumpy()[0]
        except mx.MXNetError as error:
            assert "into a header and boxes" in error.message and error.shard == path  # noqa: PT017
        else:
            assert 2 <= label[3] <= 12 and label[1:3].tolist() == [6, 7]


@pytest.mark.parametrize(
    "wrong",
    [
        {"rand_crop_prob": 2},
        {"rand_pad_prob": 1.5},
        {"max_pad_scale": 1e9},
        {"min_crop_scales": (0.5, 0.5)},
        {"num_crop_sampler": 2, "min_crop_scales": (0.1, 0.2, 0.3)},
        {"min_crop_scales": (1.0,)},
        {"max_crop_scales": (1.5,)},
        {"min_crop_overlaps": (0.9,), "max_crop_overlaps": (0.1,)},
        {"max_crop_trials": (1e9,)},
        {"num_crop_sampler": -1},
        {"crop_emit_mode": "other"},
        {"resize_mode": "other"},
        {"resize": 0},
        {"fill_value": 300},
        {"inter_method": 5},
        {"max_random_hue": "much"},
        {"data_shape": (1, 8, 8), "random_hue_prob": 0.5, "max_random_hue": 3},
    ],
)
def test_invalid_values_are_rejected(wrong, tmp_path: Path) -> None:
    parameters = {"data_shape": (3, 8, 8), "batch_size": 1, "rand_crop_prob": 0.5, **wrong}
    with pytest.raises(mx.MXNetError, match=r"invalid value for|mismatch|expect int|not supported"):
        mx.io.ImageDetRecordIter(path_imgrec=pack_images(mx, tmp_path), **parameters)
