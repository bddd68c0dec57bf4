"""``mx.image.ImageDetIter``, compared with recordings of MXNet."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import recordmill.compat.mxnet as mx
from tests.compat.mxnet import detection_programs as programs
from tests.recorded import load_recording


@pytest.mark.parametrize("name", [*programs.PROGRAMS])
def test_programs_return_values_of_mxnet(name: str, tmp_path: Path) -> None:
    assert programs.PROGRAMS[name](mx, str(tmp_path)) == load_recording("compat/mxnet/gluon/expected.json")[name]


@pytest.mark.parametrize(
    "label, message",
    [
        ([2.0, 5, 1], "Label shape is invalid"),
        ([2.0, 5, 0, 0.1, 0.1, 0.5, 0.5, 9], "inconsistent with annotation width 5"),
        ([2.0, 0, 0, 0.1, 0.1, 0.5, 0.5], "inconsistent with annotation width 0"),
        ([2.0, 5, 0, 0.5, 0.5, 0.5, 0.5], "no valid label"),
    ],
)
def test_image_det_iter_names_record_without_boxes(label: list[float], message: str, tmp_path: Path) -> None:
    record = mx.recordio.MXIndexedRecordIO(str(tmp_path / "a.idx"), str(tmp_path / "a.rec"), "w")
    header = mx.recordio.IRHeader(0, label, 0, 0)
    record.write_idx(7, mx.recordio.pack_img(header, np.zeros((4, 4, 3), np.uint8), img_fmt=".png"))
    record.close()
    with pytest.raises(RuntimeError, match=message) as caught:
        mx.image.ImageDetIter(1, (3, 4, 4), path_imgrec=str(tmp_path / "a.rec"), path_imgidx=str(tmp_path / "a.idx"))
    assert isinstance(caught.value, mx.MXNetError) and caught.value.record == 7


def test_image_det_iter_rejects_invalid_options(tmp_path: Path) -> None:
    iterator = programs.create_iterator(mx, str(tmp_path))
    wrong: list[Any] = [
        lambda: iterator.reshape(label_shape=(1, 5)),
        lambda: iterator.reshape(label_shape=(9, 6)),
        lambda: iterator.reshape(label_shape=(9,)),
        lambda: iterator.reshape(data_shape=(1, 4, 4)),
    ]
    for run in wrong:
        with pytest.raises(ValueError, match=r"."):
            run()


def test_image_det_iter_options_augment_images_and_boxes(tmp_path: Path) -> None:
    plain, mirrored = (
        programs.create_iterator(mx, str(tmp_path), **options) for options in ({}, {"rand_mirror": True, "mean": True})
    )
    random.seed(1)
    is_mirrored = set()
    for before, after in zip(plain, mirrored, strict=True):
        pixels = after.data[0].asnumpy() + np.array([123.68, 116.28, 103.53], np.float32)[:, None, None]
        for row in range(3 - before.pad):
            original, label = before.data[0].asnumpy()[row], before.label[0].asnumpy()[row]
            is_mirrored.add(not np.allclose(pixels[row], original))
            if not np.allclose(pixels[row], original):
                original = original[:, :, ::-1]
                boxes = label[label[:, 0] >= 0]
                boxes[:, 1], boxes[:, 3] = 1 - boxes[:, 3], 1 - boxes[:, 1]
                label[: len(boxes)] = boxes
            np.testing.assert_allclose(pixels[row], original, atol=1e-4)
            np.testing.assert_allclose(after.label[0].asnumpy()[row], label, atol=1e-6)
    assert is_mirrored == {True, False}


@pytest.mark.parametrize("name", ["CreateDetAugmenter", "DetBorrowAug", "DetRandomCropAug"])
def test_detection_augmenters_have_hints(name: str) -> None:
    with pytest.raises(NotImplementedError, match=r"ImageDetIter|aug_list|ImageDetRecordIter"):
        getattr(mx.image, name)


def test_image_det_iter_applies_given_functions(tmp_path: Path) -> None:
    def darken(image: Any, boxes: Any) -> tuple[Any, Any]:
        boxes[:, 0] = 7
        return mx.image.imresize(image, 32, 24, interp=0).astype("float32") * 0 + 5, boxes

    batch = programs.create_iterator(mx, str(tmp_path), aug_list=[darken]).next()
    assert (batch.data[0].asnumpy() == 5).all()
    assert (batch.label[0].asnumpy()[:, 0, 0] == 7).all()


@pytest.mark.parametrize("name", ["rand_crop", "rand_pad"])
def test_image_det_iter_rejects_random_crops(name: str, tmp_path: Path) -> None:
    with pytest.raises(NotImplementedError, match="ImageDetRecordIter"):
        programs.create_iterator(mx, str(tmp_path), **{name: 0.5})
