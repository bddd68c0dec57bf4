"""The older functions: each place in a program has its own reader, and chains give what modules give."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import recordmill.compat.oneflow as flow
from tests.compat.oneflow.parts import PICTURES, frame, labels_of, message, write_labels


def test_reader_function_when_called_again_then_goes_on_and_other_places_have_their_own(tmp_path: Path) -> None:
    write_labels(tmp_path, [5])
    found: list[list[int]] = []
    for _ in range(3):
        found.append(labels_of(flow.data.ofrecord_reader(str(tmp_path), batch_size=2)))  # noqa: PERF401
    other = flow.data.ofrecord_reader(str(tmp_path), batch_size=2)
    assert found == [[0, 1], [2, 3], [4, 0]] and labels_of(other) == [0, 1]


def chain(folder: str) -> tuple[Any, Any]:
    """Return pictures and labels as a training program of that time reads them."""
    records = flow.data.ofrecord_reader(folder, batch_size=3, data_part_num=1, shuffle_after_epoch=True)
    image = flow.data.OFRecordImageDecoderRandomCrop(records, "images", color_space="GRAY", seed=1)
    label = flow.data.OFRecordRawDecoder(records, "labels", shape=(1,), dtype=flow.int32)
    resized, scale, _ = flow.image.Resize(image, target_size=(8, 8), channels=1)
    coins = flow.random.CoinFlip(batch_size=3, seed=2)
    normal = flow.image.CropMirrorNormalize(resized, mirror_blob=coins, color_space="GRAY", mean=[0.0], std=[255.0])
    assert scale.shape == (3, 2)
    return normal, label


def test_chain_of_functions_when_called_then_gives_what_modules_give(tmp_path: Path) -> None:
    names = ("png_RGB", "jpeg_0", "png_L", "bmp")
    with np.load(PICTURES) as pictures:
        rows = [message(images=pictures[name].tobytes(), labels=place) for place, name in enumerate(names)]
    (tmp_path / "part-0").write_bytes(b"".join(map(frame, rows)))
    reader = flow.nn.OFRecordReader(str(tmp_path), batch_size=3, shuffle_after_epoch=True)
    crop = flow.nn.OFRecordImageDecoderRandomCrop("images", color_space="GRAY", random_seed=1)
    resize, coins = flow.nn.image.Resize((8, 8), channels=1), flow.nn.CoinFlip(3, random_seed=2)
    normalise = flow.nn.CropMirrorNormalize(color_space="GRAY", mean=[0.0], std=[255.0])
    for expected in ([0, 1, 2], [3, 0, 1], [2, 3, 0]):
        images, labels = chain(str(tmp_path))
        assert labels.numpy().ravel().tolist() == expected
        assert images.shape == (3, 1, 8, 8) and images.dtype == flow.float
        assert np.array_equal(images, normalise(resize(crop(reader()))[0], coins()))


def test_decode_functions_when_called_then_take_the_batch_first(tmp_path: Path) -> None:
    with np.load(PICTURES) as pictures:
        data = pictures["png_RGB"].tobytes()
    (tmp_path / "part-0").write_bytes(frame(message(images=data)))
    records = flow.data.ofrecord_reader(str(tmp_path))
    encoded = flow.data.OFRecordBytesDecoder(records, "images")
    assert encoded.numpy()[0].tobytes() == data
    assert np.array_equal(
        flow.image.decode(encoded, color_space="RGB").numpy()[0],
        flow.data.OFRecordImageDecoder(records, "images", color_space="RGB").numpy()[0],
    )
