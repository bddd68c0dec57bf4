"""Options for truncated JPEG files, compared with recordings of TensorFlow."""

from __future__ import annotations

import io
import pickle
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import recordmill as rm
import recordmill.compat.tensorflow as tf
from tests.compat.tensorflow.test_images import module_of
from tests.images import encode_jpeg, encode_png

RECORDINGS = Path(__file__).parents[2] / "recordings" / "compat" / "tensorflow" / "truncated"
MAKE = module_of(RECORDINGS / "make.py")
RECOVER = {"try_recover_truncated": True}


def find_differences(folder: Path, file: str) -> tuple[int, list[tuple[str, int]]]:
    """Return the number of recorded calls for a file, and the calls whose results differ."""
    data, wrong, count = MAKE.load_files(folder)[file], [], 0
    with np.load(folder / "expected.npz") as saved:
        for key in saved.files:
            name, label = key.split(": ")
            for cut, expected in saved[key].tolist() if name == file else ():
                count += 1
                if MAKE.checksum(tf, data[:cut], label) != max(expected, MAKE.FAILED):
                    wrong.append((label, cut))
    return count, wrong


@pytest.mark.parametrize("file", MAKE.load_files(RECORDINGS))
def test_decode_jpeg_of_truncated_file_equals_tensorflow(file) -> None:
    count, wrong = find_differences(RECORDINGS, file)
    assert count > 100
    assert not wrong


def test_recordings_contain_pixels_and_errors() -> None:
    with np.load(RECORDINGS / "expected.npz") as saved:
        found = np.concatenate([saved[key][:, 1] for key in saved.files])
    assert (found > 0).sum() > 10_000
    assert (found == MAKE.FAILED).sum() > 1000
    assert (found == MAKE.SILENT).any()


def test_decode_jpeg_of_truncated_cmyk_keeps_complete_rows() -> None:
    # TensorFlow 2.21 never returns from decoding such a file.
    memory = io.BytesIO()
    Image.fromarray(np.random.default_rng(1).integers(0, 256, (64, 64, 4), np.uint8), "CMYK").save(memory, "JPEG")
    data = memory.getvalue()
    for options in (RECOVER, RECOVER | {"dct_method": "INTEGER_ACCURATE"}):
        whole, cut = (tf.io.decode_jpeg(one, **options).numpy() for one in (data, data[: len(data) // 2]))
        assert cut.shape == whole.shape and np.array_equal(cut[:16], whole[:16])
        assert not np.array_equal(cut[-16:], whole[-16:])


def test_decode_jpeg_of_truncated_progressive_file_recovers_without_row_count() -> None:
    data = encode_jpeg(1, 64, 64, progressive=True)
    assert np.array_equal(tf.io.decode_jpeg(data, **RECOVER), tf.io.decode_jpeg(data))
    assert tf.io.decode_jpeg(data[:-200], **RECOVER).shape == (64, 64, 3)
    with pytest.raises(tf.errors.InvalidArgumentError, match="Invalid JPEG data"):
        tf.io.decode_jpeg(data[:-200], acceptable_fraction=0.1)


def test_decode_jpeg_rejects_file_truncated_inside_huffman_table() -> None:
    data = encode_jpeg(1, 64, 64, progressive=True)
    cut = data[: data.rindex(b"\xff\xc4") + 8]
    with pytest.raises(tf.errors.InvalidArgumentError, match="Invalid JPEG data"):
        tf.io.decode_jpeg(cut, **RECOVER)
    with pytest.raises(rm.ImageError) as caught:
        rm.decode_jpeg(cut, recover_truncated=True)
    assert caught.value.kind == "bad_table" and caught.value.offset


@pytest.mark.parametrize("options", [RECOVER, {"acceptable_fraction": 0.2}])
def test_native_batches_of_truncated_files_equal_single_calls(options) -> None:
    files = [encode_jpeg(seed, 64, 48)[: -300 * seed or None] for seed in range(3)]

    def decode(data):
        return tf.image.resize(tf.io.decode_jpeg(data, channels=3, **options), (20, 20))

    batches = list(tf.data.Dataset.from_tensor_slices(files).map(decode).batch(3).as_numpy_iterator())
    assert np.array_equal(batches[0], np.stack([decode(data).numpy() for data in files]))


def test_acceptable_fraction_error_reports_decoded_rows() -> None:
    data = encode_jpeg(2, 64, 48, subsampling=0)
    whole, cut = rm.decode_jpeg(data), data[: len(data) * 2 // 3]
    found = rm.decode_jpeg(cut, acceptable_fraction=0.1)
    rows = int(found.any(axis=(1, 2)).sum())
    assert 0 < rows < len(whole)
    assert np.array_equal(found[:rows], whole[:rows])
    assert not found[rows:].any()
    with pytest.raises(rm.ImageError, match="ends too early") as caught:
        rm.decode_jpeg(cut, acceptable_fraction=0.99)
    error = pickle.loads(pickle.dumps(caught.value))
    assert (error.kind, error.found) == ("truncated", str(rows))


def test_recover_truncated_combines_with_window_channels_and_limit() -> None:
    data = encode_jpeg(2, 64, 64, subsampling=0)
    data = data[: len(data) // 2]
    whole = rm.decode_jpeg(data, recover_truncated=True)
    assert (whole[-1] == 128).all()
    assert np.array_equal(rm.decode_jpeg(data, recover_truncated=True, channels="bgr"), whole[:, :, ::-1])
    part = rm.decode_jpeg(data, recover_truncated=True, window=(5, 7, 30, 40))
    assert np.array_equal(part, whole[7:47, 5:35])
    assert np.array_equal(rm.decode_jpeg(data, recover_truncated=True, channels="gray").shape, (64, 64))
    with pytest.raises(rm.LimitError):
        rm.decode_jpeg(data, recover_truncated=True, max_pixels=1000)
    for window in ((0, 0, 65, 10), (0, 60, 3, 9)):
        with pytest.raises(rm.ImageError, match="window"):
            rm.decode_jpeg(data, recover_truncated=True, window=window)


def test_recovery_rejects_invalid_options() -> None:
    data = encode_jpeg(2)
    for fraction in (-0.1, 1.1, float("nan")):
        with pytest.raises(ValueError, match="acceptable_fraction"):
            rm.decode_jpeg(data, acceptable_fraction=fraction)
    with pytest.raises(ValueError, match="orientation"):
        rm.decode_jpeg(data, recover_truncated=True, orientation="apply")
    with pytest.raises(rm.ImageError, match="not a JPEG"):
        rm.decode_jpeg(encode_png(2), recover_truncated=True)


def test_recovery_of_corrupt_files_returns_pixels_or_raises() -> None:
    rng, count = np.random.default_rng(5), 0
    files = MAKE.load_files(RECORDINGS)
    for data in (files["420"], files["420 restarts"], files["grey"]):
        original = np.frombuffer(data, np.uint8)
        for _ in range(300):
            changed = original.copy()
            changed[rng.integers(2, len(data), 3)] = rng.integers(0, 256, 3)
            cut = changed[: rng.integers(20, len(data) + 1)].tobytes()
            try:
                found = rm.decode_jpeg(cut, recover_truncated=bool(rng.integers(2)), acceptable_fraction=0.0)
            except rm.RecordmillError:
                continue
            count += found.dtype == np.uint8
    assert count > 300
