"""Contact sheets: pixels, captions, batches of every layout, masks, damage, and files."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import recordmill as rm
from recordmill.pipeline.dataset import Dataset
from tests.images import encode_image, encode_jpeg, encode_palette_mask, encode_png

COLORS = np.array([(250, 20, 30), (20, 240, 40), (10, 60, 230), (128, 128, 128)], np.uint8)
FORMATS = ("tfrecord", "ofrecord", "recordio")


def solid(number: int, width: int = 40, height: int = 30) -> np.ndarray:
    return np.broadcast_to(COLORS[number % len(COLORS)], (height, width, 3)).copy()


@pytest.fixture
def colors(tmp_path: Path) -> Dataset:
    """Return a dataset of images with one color each, and with classes."""
    with rm.ShardWriter(tmp_path / "a.tfrecord") as writer:
        for number in range(8):
            writer.write({"image": encode_image(Image.fromarray(solid(number))), "label": number % 4})
    (tmp_path / "labels.txt").write_text(
        "red\ngreen\nZürich 日本\nand <b>a long name of a class</b>\n", encoding="utf-8"
    )
    return rm.open(tmp_path / "a.tfrecord")


def center_colors(sheet: rm.ContactSheet) -> np.ndarray:
    """Return the color at the center of each tile; `size` of a tile follows from the size of the sheet."""
    pixels = np.asarray(sheet.image)
    columns = min(len(sheet), 6)
    rows = -(-len(sheet) // columns)
    width, height = pixels.shape[1] / columns, pixels.shape[0] / rows
    return np.array(
        [
            pixels[int(height * (number // columns) + height * 0.46), int(width * (number % columns) + width / 2)]
            for number in range(len(sheet))
        ]
    )


def assert_colors(sheet: rm.ContactSheet, numbers: list[int], tolerance: int = 3) -> None:
    assert np.abs(center_colors(sheet).astype(int) - COLORS[np.array(numbers) % 4]).max() <= tolerance


def test_sheet_of_dataset_shows_images_and_classes(colors: Dataset) -> None:
    sheet = colors.show()
    assert sheet.captions == ["red", "green", "Zürich 日本", "and <b>a long name of a class</b>"] * 2
    assert_colors(sheet, [*range(8)])
    assert repr(sheet).startswith("ContactSheet(8 images, ") and sheet.errors == []


def test_sheet_shows_at_most_n_samples(colors: Dataset) -> None:
    assert_colors(colors.show(3), [0, 1, 2])
    assert len(colors.batch(2).show(5)) == 5
    assert len(rm.show(colors, 2)) == 2


@pytest.mark.parametrize("n", [0, -1, 1001, 1.5, "3", True])
def test_show_rejects_invalid_n(n: object, colors: Dataset) -> None:
    with pytest.raises(ValueError, match="n must be an integer from 1 to 1,000"):
        colors.show(n)  # type: ignore[arg-type]


def test_sheet_follows_the_order_of_the_dataset(colors: Dataset) -> None:
    shuffled = colors.shuffle(seed=3)
    assert_colors(shuffled.show(), [int(sample["label"]) for sample in shuffled])
    assert_colors(colors.filter(lambda sample: sample["label"] == 2).show(), [2, 2])
    assert_colors(colors.repeat().show(10), [*range(10)])


@pytest.mark.parametrize("layout", ["chw", "hwc"])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"mean": rm.IMAGENET_MEAN, "std": rm.IMAGENET_STD},
        {"mean": 100.0, "std": 50.0, "white": 255.0},
        {"dtype": "float32", "white": 255.0},
        {"dtype": "float16"},
        {"dtype": "uint16"},
        {"channels": "bgr"},
        {"like": "opencv", "mean": (0.1, 0.2, 0.3), "std": 0.5},
        {"like": "tensorflow", "resize": (20, 20), "dtype": "float32", "scale_first": True, "mean": 0.5, "std": 0.5},
    ],
)
def test_sheet_of_decoded_dataset_has_original_colors(options: dict, layout: str, colors: Dataset) -> None:
    if options.get("scale_first"):
        options = {**options, "kernel": "tensorflow:bilinear"}
    decoded = colors.decode(image=rm.Image(**options, layout=layout))
    assert_colors(decoded.show(), [*range(8)])
    assert_colors(decoded.batch(3).show(), [*range(8)])


def test_sheet_after_map_scales_pixels_from_minimum_to_maximum(colors: Dataset) -> None:
    decoded = colors.decode(image=rm.Image(dtype="float32")).map(lambda sample: sample | {"image": sample["image"] * 9})
    assert_colors(decoded.take(3).show(), [0, 1, 2], tolerance=30)


@pytest.mark.parametrize(
    "convert",
    [
        lambda batch: batch,
        lambda batch: batch.transpose(0, 3, 1, 2),
        lambda batch: batch.astype(np.float32) / 255,
        lambda batch: batch.astype(np.int64),
        lambda batch: batch.astype(np.uint16) << 8,
        list,
        lambda batch: [image.transpose(2, 0, 1) for image in batch],
        lambda batch: [{"image": image} for image in batch],
        lambda batch: [encode_image(Image.fromarray(image)) for image in batch],
        lambda batch: {"x": batch, "other": np.arange(4), "scalar": 7},
        lambda batch: {"x": list(batch)},
        lambda batch: {"x": [encode_image(Image.fromarray(image)) for image in batch]},
        lambda batch: {"x": rm.Ragged.from_rows([encode_array(image) for image in batch])},
        lambda batch: (batch, np.arange(4)),
    ],
)
def test_show_accepts_batches_and_samples(convert) -> None:
    assert_colors(rm.show(convert(np.stack([solid(number) for number in range(4)]))), [0, 1, 2, 3])


def encode_array(pixels: np.ndarray) -> np.ndarray:
    return np.frombuffer(encode_image(Image.fromarray(pixels)), np.uint8)


@pytest.mark.parametrize(
    "one",
    [
        solid(1),
        solid(1).transpose(2, 0, 1),
        encode_array(solid(1)).tobytes(),
        {"image": solid(1), "label": np.int64(1)},
        {"image": encode_array(solid(1)).tobytes(), "boxes": np.zeros((3, 4), np.float32)},
    ],
    ids=range(5),
)
def test_show_accepts_one_image_or_sample(one) -> None:
    assert_colors(rm.show(one), [1])


@pytest.mark.parametrize("shape", [(5, 28, 28), (5, 28, 28, 1), (5, 1, 28, 28), (28, 28)])
@pytest.mark.parametrize("dtype", [np.uint8, np.float32, np.float64, bool])
def test_show_accepts_gray_images(shape: tuple[int, ...], dtype: type) -> None:
    sheet = rm.show(np.ones(shape, dtype))
    assert len(sheet) == (5 if shape[0] == 5 else 1)
    assert center_colors(sheet).min() == (1 if dtype is np.uint8 else 255)


def test_show_labels_images_of_a_batch_with_class_names() -> None:
    batch = {"image": np.zeros((3, 8, 8, 3), np.uint8), "label": np.array([1, 0, 9])}
    assert rm.show(batch, classes=["cat", "dog"]).captions == ["dog", "cat", "9"]
    assert rm.show(batch).captions == ["1", "0", "9"]
    assert rm.show((batch["image"], batch["label"]), classes=["cat", "dog"]).captions == ["dog", "cat", "9"]
    text = [{"image": solid(0), "label": value} for value in (b"caf\xc3\xa9", "two\nlines", b"\xff\x00", np.float32(2))]
    assert rm.show(text).captions == ["café", "two lines", "2 bytes", "2"]


def test_show_draws_floats_beyond_one_from_minimum_to_maximum() -> None:
    image = np.full((4, 8, 3), -2.0, np.float32)
    image[:, 4:] = 2.0
    image[0, 0] = np.nan
    pixels = np.asarray(rm.show(image).image)[60:80, 10:160]
    assert pixels[:, 10].max() == 0 and pixels[:, -10].min() == 255


def test_sheet_overlays_masks(tmp_path: Path) -> None:
    mask = np.zeros((30, 40), np.uint8)
    mask[:, 20:] = 1
    with rm.ShardWriter(tmp_path / "a.tfrecord") as writer:
        for _ in range(2):
            writer.write(
                {"image": encode_image(Image.fromarray(solid(3))), "mask": encode_image(Image.fromarray(mask))}
            )
    dataset = rm.open(tmp_path / "a.tfrecord").decode(image=rm.Image(), mask=rm.Mask())
    for sheet in (dataset.show(), dataset.batch(2).show()):
        assert len(sheet) == 2
        pixels = np.asarray(sheet.image)
        assert tuple(pixels[88, 40]) == (128, 128, 128)
        assert len(set(pixels[88, 140].tolist())) > 1


def test_samples_with_several_images_have_a_tile_for_each(tmp_path: Path) -> None:
    with rm.ShardWriter(tmp_path / "a.tfrecord") as writer:
        writer.write({"left": encode_png(0), "right": encode_png(1), "label": 7})
    assert rm.open(tmp_path / "a.tfrecord").show().captions == ["7 · left", "7 · right"]


@pytest.mark.parametrize("format_", FORMATS)
def test_sheet_of_any_format(format_: str, tmp_path: Path) -> None:
    with rm.ShardWriter(tmp_path / "a", format=format_) as writer:
        for number in range(3):
            writer.write({"image": encode_image(Image.fromarray(solid(number))), "label": number})
    sheet = rm.open(tmp_path / "a").show()
    assert_colors(sheet, [0, 1, 2])
    assert sheet.captions == ["0", "1", "2"]


@pytest.mark.parametrize("decodes", [False, True])
def test_damaged_images_become_messages(decodes: bool, tmp_path: Path) -> None:
    broken = (encode_jpeg(0, 300, 200)[:2000], b"\x89PNG\r\n\x1a\n" + bytes(50), b"no image", b"")
    with rm.ShardWriter(tmp_path / "a.tfrecord") as writer:
        for data in (encode_png(0), *broken):
            writer.write({"image": data})
    dataset = rm.open(tmp_path / "a.tfrecord")
    sheet = (dataset.decode(image=rm.Image()) if decodes else dataset).show()
    assert len(sheet) == 5 and len(sheet.errors) == 4


def test_dataset_of_damaged_images_only_has_a_sheet(tmp_path: Path) -> None:
    with rm.ShardWriter(tmp_path / "a.tfrecord") as writer:
        writer.write({"image": b"no image at all"})
    assert len(rm.open(tmp_path / "a.tfrecord").show().errors) == 1


def test_damaged_record_becomes_a_message(colors: Dataset, tmp_path: Path) -> None:
    path = tmp_path / "a.tfrecord"
    data = bytearray(path.read_bytes())
    data[len(data) // 2 + 10] ^= 1
    path.write_bytes(data)
    sheet = rm.open(path).show()
    assert len(sheet) == 8 and len(sheet.errors) == 1 and "record 4: " in sheet.errors[0]


def test_empty_dataset_has_an_empty_sheet(colors: Dataset) -> None:
    sheet = colors.take(0).show()
    assert len(sheet) == 0 and sheet._repr_png_().startswith(b"\x89PNG")
    assert len(rm.show([])) == 0
    assert len(rm.show({"image": np.zeros((0, 3, 8, 8), np.uint8)})) == 0


def test_samples_without_images_raise_feature_error(tmp_path: Path) -> None:
    with rm.ShardWriter(tmp_path / "a.tfrecord") as writer:
        writer.write({"text": b"hello", "number": 7, "vector": [1.0, 2.0]})
    with pytest.raises(rm.FeatureError, match="number"):
        rm.open(tmp_path / "a.tfrecord").show()
    with pytest.raises(rm.FeatureError, match="no images"):
        rm.show({"tokens": np.zeros((8, 64), np.int64)})


@pytest.mark.parametrize("value", [7, None, "photo.jpg", object()])
def test_show_rejects_other_types(value: object) -> None:
    with pytest.raises(TypeError, match="expected a batch"):
        rm.show(value)


def test_show_without_pillow_names_the_extra(colors: Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "PIL", None)
    for create in (colors.show, lambda: rm.show(np.zeros((2, 8, 8, 3), np.uint8))):
        with pytest.raises(rm.MissingExtraError, match=r"recordmill\[image\]"):
            create()


@pytest.mark.parametrize("suffix, name", [(".png", "PNG"), (".jpg", "JPEG"), (".webp", "WEBP")])
def test_sheet_is_saved_in_the_format_of_the_suffix(suffix: str, name: str, colors: Dataset, tmp_path: Path) -> None:
    sheet = colors.show()
    path = tmp_path / f"sheet{suffix}"
    path.write_bytes(b"old")
    sheet.save(path)
    with Image.open(path) as image:
        assert image.format == name and image.size == sheet.image.size


def test_save_with_unknown_suffix_writes_nothing(colors: Dataset, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="unknown file extension"):
        colors.show().save(tmp_path / "sheet.xyz")
    assert not (tmp_path / "sheet.xyz").exists()


def test_notebooks_show_the_sheet_as_png(colors: Dataset) -> None:
    sheet = colors.show(2)
    with Image.open(io.BytesIO(sheet._repr_png_())) as image:
        np.testing.assert_array_equal(np.asarray(image), np.asarray(sheet.image))


def test_palette_images_show_their_colors() -> None:
    data, _ = encode_palette_mask(0)
    assert rm.show([data, data]).errors == []
