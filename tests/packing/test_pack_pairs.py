"""Image and mask pairs through `pack`: palettes, raw masks, sizes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from recordmill.errors import FeatureError
from recordmill.packing.pack import pack
from recordmill.packing.sources import ImagePairs
from tests.packing.packed import read
from tests.pictures import palette_mask


@pytest.mark.parametrize("format_", ["tfrecord", "ofrecord"])
def test_pack_when_pairs_are_packed_then_both_files_are_there(voc: Path, tmp_path: Path, format_: str) -> None:
    source = ImagePairs.voc(voc)
    result = pack(source, tmp_path / "seg", format=format_)
    columns = read(result.paths[0])
    image, label = ("images", "labels") if format_ == "ofrecord" else ("image", "label")
    assert list(columns[image]) == [Path(item.path).read_bytes() for item in source]
    assert list(columns[label]) == [Path(item.mask).read_bytes() for item in source]


def test_pack_when_pairs_go_to_image_records_then_the_hint_helps(voc: Path, tmp_path: Path) -> None:
    with pytest.raises(FeatureError, match='payload="example"'):
        pack(ImagePairs.voc(voc), tmp_path / "seg.rec", format="recordio")
    assert pack(ImagePairs.voc(voc), tmp_path / "seg.rec", format="recordio", payload="example").num_records == 4


def test_pack_when_masks_are_raw_then_indices_are_exact(voc: Path, tmp_path: Path) -> None:
    columns = read(pack(ImagePairs.voc(voc), tmp_path / "seg", mask="raw").paths[0])
    for row, index in enumerate([3, 0, 1, 4]):
        wanted = palette_mask(index, 20 + index)[1]
        shape = (columns["height"][row], columns["width"][row])
        assert columns["dtype"][row] == b"uint8" and shape == wanted.shape
        assert (np.frombuffer(columns["label"][row], np.uint8).reshape(shape) == wanted).all()


def test_pack_when_pairs_are_resized_then_masks_keep_their_values(voc: Path, tmp_path: Path) -> None:
    import io

    options = {"encode": "jpeg", "resize": 7, "center_crop": True}
    encoded = read(pack(ImagePairs.voc(voc), tmp_path / "a", **options).paths[0])
    raw = read(pack(ImagePairs.voc(voc), tmp_path / "b", mask="raw", **options).paths[0])
    for row in range(4):
        mask = Image.open(io.BytesIO(encoded["label"][row]))
        assert mask.mode == "P" and mask.size == (7, 7) == Image.open(io.BytesIO(encoded["image"][row])).size
        assert np.asarray(mask).tobytes() == raw["label"][row]
        assert set(raw["label"][row]) <= {*range(21), 255}


def test_pack_when_mask_and_image_differ_in_size_then_they_are_named(voc: Path, tmp_path: Path) -> None:
    (voc / "SegmentationClass/2007_1.png").write_bytes(palette_mask(0, 9, 9)[0])
    result = pack(ImagePairs.voc(voc), tmp_path / "a", mask="raw", keep_shape=True, on_error="skip")
    assert result.num_records == 3 and "2007_1.png" in result.skipped[0][0] and "9 x 9" in result.skipped[0][1]


def test_pack_when_exif_is_asked_for_pairs_then_is_refused(voc: Path, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="exif"):
        pack(ImagePairs.voc(voc), tmp_path / "a", encode="jpeg", exif=True)
