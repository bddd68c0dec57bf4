"""mx.image: functions, augmenters and ImageIter, against recordings of MXNet's."""

from __future__ import annotations

import json
import os
import pickle
import random
import shutil
import struct

import numpy as np
import pytest

import recordmill.compat.mxnet as mx
from tests.compat.mxnet import programs
from tests.recorded import RECORDINGS, load_recording

EXPECTED = load_recording("compat/mxnet/expected.json")


@pytest.fixture(scope="module", autouse=True)
def recordings(tmp_path_factory):
    """A copy of the recorded files."""
    folder = tmp_path_factory.mktemp("mxnet") / "files"
    shutil.copytree(RECORDINGS / "compat" / "mxnet", folder)
    before = os.getcwd()
    os.chdir(folder)
    yield folder
    os.chdir(before)


def plain(value):
    return json.loads(json.dumps(value))


def load_image():
    return mx.image.imread("pictures/a.jpg")


def test_image_functions_equal_mxnet() -> None:
    assert plain(programs.image_steps(mx, load_image())) == EXPECTED["steps"]


@pytest.mark.parametrize("name", programs.AUGMENTERS)
def test_augmenters_equal_mxnet(name) -> None:
    assert plain(programs.augmented(mx, load_image(), name)) == EXPECTED["augmented"][name]


@pytest.mark.parametrize("name", programs.CLOSE_AUGMENTERS)
def test_color_augmenters_are_close_to_mxnet(name) -> None:
    found = programs.nearly_augmented(mx, load_image(), name)
    np.testing.assert_allclose(found, EXPECTED["color augmented"][name], rtol=1e-5, atol=1e-4)


@pytest.mark.parametrize("name", programs.ITERATIONS)
def test_image_iter_batches_equal_mxnet(name) -> None:
    assert plain(programs.python_iterations(mx, name)) == EXPECTED["iterations"][name]


def test_imdecode_ignores_exif_behind_jfif() -> None:
    assert plain(programs.orientations(mx)) == EXPECTED["orientations"]


def test_decoded_image_is_an_ndarray() -> None:
    image = load_image()
    assert image.shape == (60, 80, 3) and type(image.asnumpy()) is np.ndarray
    assert image.astype("float32").asnumpy().dtype == np.float32 and str(image.context) == "cpu(0)"
    assert image[:1, :1, :1].asscalar() == int(image.asnumpy()[0, 0, 0])
    out = mx.nd.zeros((60, 80, 3), dtype="uint8")
    assert mx.image.imread("pictures/a.jpg", out=out) is out and (out.asnumpy() == image.asnumpy()).all()


@pytest.mark.parametrize(
    "call,kinds",
    [
        (lambda: mx.image.imdecode(b""), (RuntimeError, mx.MXNetError)),
        (lambda: mx.image.imdecode(b"no image"), (RuntimeError, mx.MXNetError)),
        (lambda: mx.image.imdecode("text"), (ValueError,)),
        (lambda: mx.image.imdecode(b"x", flag=-1), (ValueError, mx.MXNetError)),
        (lambda: mx.image.imread("pictures/none.png"), (FileNotFoundError, mx.MXNetError)),
        (lambda: mx.image.imread("pictures.lst"), (RuntimeError, mx.MXNetError)),
        (lambda: mx.image.imresize(load_image(), 0, 3), (ValueError, mx.MXNetError)),
        (lambda: mx.image.imresize(load_image(), 3, 3, interp=7), (ValueError, mx.MXNetError)),
        (lambda: mx.image.imresize(load_image().astype("int32"), 3, 3, interp=3), (NotImplementedError,)),
        (lambda: mx.image.CreateAugmenter((3, 4, 4), rand_resize=True), (AssertionError,)),
        (lambda: mx.image.CreateAugmenter((3, 4, 4), mean=7), (AssertionError,)),
        (lambda: mx.image.CreateAugmenter((3, 4, 4), rotate=7), (TypeError,)),
        (lambda: mx.image.ImageIter(1, (1, 4, 4), path_imgrec="images.rec"), (ValueError,)),
        (lambda: mx.image.ImageIter(1, (3, 4), path_imgrec="images.rec"), (ValueError,)),
        (lambda: mx.image.ImageIter(1, (3, 4, 4), path_imgrec="images.rec", shuffle=True), (AssertionError,)),
        (lambda: mx.image.ImageIter(1, (3, 4, 4), path_imgrec="images.rec", num_parts=2), (AssertionError,)),
        (lambda: mx.image.ImageIter(1, (3, 4, 4)), (AssertionError,)),
        (lambda: mx.image.ImageIter(1, (3, 4, 4), path_imgrec="a.rec", last_batch_handle="x"), (ValueError,)),
        (lambda: mx.image.ImageIter(1, (3, 4, 4), path_imgrec="none.rec"), (FileNotFoundError,)),
    ],
)
def test_image_errors_have_types_of_mxnet(call, kinds) -> None:
    with pytest.raises(kinds) as caught:
        call()
    assert all(isinstance(caught.value, kind) for kind in kinds)


def test_imread_names_broken_file() -> None:
    with pytest.raises(mx.MXNetError) as caught:
        mx.image.imread("pictures.lst")
    assert caught.value.shard == "pictures.lst" and "pictures.lst" in str(caught.value)


def test_gray_image_has_one_channel() -> None:
    assert mx.image.imread("pictures/a.jpg", flag=0).shape == (60, 80, 1)
    colors, reverse = (mx.image.imread("pictures/a.jpg", to_rgb=order).asnumpy() for order in (True, False))
    np.testing.assert_array_equal(colors, reverse[:, :, ::-1])


def test_imresize_chooses_interpolation() -> None:
    small, large = (mx.image.imresize(load_image(), *size, interp=9).asnumpy() for size in ((40, 30), (120, 90)))
    np.testing.assert_array_equal(small, mx.image.imresize(load_image(), 40, 30, interp=3).asnumpy())
    np.testing.assert_array_equal(large, mx.image.imresize(load_image(), 120, 90, interp=2).asnumpy())
    random.seed(4)
    drawn = random.randint(0, 4)
    random.seed(4)
    chance = mx.image.imresize(load_image(), 31, 23, interp=10).asnumpy()
    np.testing.assert_array_equal(chance, mx.image.imresize(load_image(), 31, 23, interp=drawn).asnumpy())


def test_augmenter_base_class_is_abstract() -> None:
    with pytest.raises(NotImplementedError):
        mx.image.Augmenter()(load_image())


def test_image_iter_names_broken_image(tmp_path) -> None:
    record = mx.recordio.MXIndexedRecordIO(tmp_path / "b.idx", tmp_path / "b.rec", "w")
    record.write_idx(7, mx.recordio.pack(mx.recordio.IRHeader(0, 1.0, 7, 0), b"no image"))
    record.close()
    data = mx.image.ImageIter(1, (3, 4, 4), path_imgrec=tmp_path / "b.rec", path_imgidx=tmp_path / "b.idx")
    with pytest.raises(RuntimeError, match="Broken image") as caught:
        data.next()
    assert caught.value.shard == str(tmp_path / "b.rec") and caught.value.record == 7


def test_image_iter_rejects_other_label_width() -> None:
    data = mx.image.ImageIter(2, (3, 8, 8), path_imgrec="vectors.rec")
    with pytest.raises(mx.MXNetError, match="2 values but label_width is 1"):
        data.next()


@pytest.mark.parametrize("window", [(-5, 0, 20, 10), (5, 6, 0, 10), (500, 0, 20, 10)])
def test_fixed_crop_rejects_empty_window(window) -> None:
    with pytest.raises(mx.MXNetError, match="no pixel of the image"):
        mx.image.fixed_crop(load_image(), *window)


@pytest.mark.parametrize("size, words", [((0, 20), "w must be"), ((30, 2.5), "h must be")])
def test_imresize_rejects_invalid_sizes(size, words) -> None:
    with pytest.raises(mx.MXNetError, match=words):
        mx.image.imresize(load_image(), *size)


class ByClass(mx.image.ImageIter):
    """Iterate over samples of one label, as many programs do."""

    def reset(self):
        super().reset()
        self.keys = [key for key in self.seq if key % 2]

    def next_sample(self):
        if self.cur >= len(self.keys):
            raise StopIteration
        key = self.keys[self.cur]
        self.cur += 1
        header, encoded = mx.recordio.unpack(self.imgrec.read_idx(key))
        return header.label, encoded

    def next(self):
        data, labels, row = mx.nd.empty((self.batch_size, *self.data_shape)), mx.nd.empty((self.batch_size,)), 0
        try:
            while row < self.batch_size:
                label, encoded = self.next_sample()
                image = self.imdecode(encoded)
                self.check_valid_image(image)
                data[row][:] = self.postprocess_data(self.augmentation_transform(image))
                labels[row][:] = label
                row += 1
        except StopIteration:
            if not row:
                raise
        return mx.io.DataBatch([data], [labels], self.batch_size - row)


def test_image_iter_subclass_can_use_seq_and_imgrec() -> None:
    files = {"path_imgrec": "images.rec", "path_imgidx": "images.idx"}
    whole = mx.image.ImageIter(1, (3, 24, 28), **files)
    expected = {position: batch for position, batch in enumerate(whole) if position % 2}
    data = ByClass(3, (3, 24, 28), **files)
    assert (data.num_image, data.imglist, data.path_root) == (11, None, None)
    for _ in range(2):
        batches = list(data)
        assert [batch.pad for batch in batches] == [0, 1]
        rows = [row for batch in batches for row in batch.data[0].asnumpy()[: 3 - batch.pad]]
        assert [row.tolist() for row in rows] == [one.data[0].asnumpy()[0].tolist() for one in expected.values()]
        labels = [one for batch in batches for one in batch.label[0].asnumpy()[: 3 - batch.pad].tolist()]
        assert labels == [float(one.label[0].asscalar()) for one in expected.values()]
        data.reset()


def test_image_iter_rejects_empty_batches() -> None:
    with pytest.raises(ValueError, match="batch_size"):
        mx.image.ImageIter(0, (3, 24, 28), path_imgrec="images.rec")


@pytest.mark.parametrize("payload, builtin", [(b"short", struct.error), (struct.pack("<IfQQ", 9, 0, 0, 0), ValueError)])
def test_image_iter_names_record_with_truncated_header(payload, builtin, tmp_path) -> None:
    record = mx.recordio.MXRecordIO(tmp_path / "cut.rec", "w")
    record.write(payload)
    record.close()
    with pytest.raises(builtin) as caught:
        mx.image.ImageIter(1, (3, 4, 4), path_imgrec=tmp_path / "cut.rec").next()
    assert isinstance(caught.value, mx.MXNetError)
    assert caught.value.record == 0
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)
