"""The preview of a pipeline: images with masks and boxes, values and errors of a record in several epochs."""

from __future__ import annotations

import io
import threading
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

import recordmill as rm
from recordmill.viewer.preview import Preview
from tests.images import encode_image, encode_jpeg, encode_palette_mask, make_pixels

WIDTH, HEIGHT = 24, 16
BOXES = [[0.0, 0.0, 12.0, 8.0], [6.0, 4.0, 24.0, 16.0]]
POINTS = [[3.0, 4.0], [12.0, 8.0], [100.0, 8.0]]


def encode_pixels(seed: int) -> bytes:
    return encode_image(Image.fromarray(make_pixels(seed, WIDTH, HEIGHT)))


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> rm.Dataset:
    path = tmp_path_factory.mktemp("preview") / "train.tfrecord"
    (path.parent / "labels.txt").write_text("0:cat\n1:dog\n", "utf-8")
    with rm.ShardWriter(path) as writer:
        for number in range(6):
            example = {
                "image": encode_pixels(number),
                "mask": encode_palette_mask(number, WIDTH, HEIGHT)[0],
                "boxes": np.array(BOXES, np.float32).reshape(-1),
                "points": np.array(POINTS, np.float32).reshape(-1),
                "kinds": np.array([1, number % 2], np.int64),
                "label": number % 2,
                "name": f"photo {number}".encode(),
            }
            writer.write(example)
    return rm.open(path)


def open_png(data: bytes) -> NDArray[np.uint8]:
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    image = Image.open(io.BytesIO(data))
    return np.asarray(image.convert("RGBA") if image.mode == "P" else image)


def load(preview: Preview, url: str) -> NDArray[np.uint8]:
    """Return the pixels at an address of a preview."""
    *start, position, epoch, name, number = url.split("/")
    assert start == ["api", "preview"]
    return open_png(preview.encode_image(int(position), int(epoch), unquote(name), int(number)))


def first_image(preview: Preview, position: int = 0, name: str = "image") -> tuple[dict[str, Any], NDArray[np.uint8]]:
    (sample,) = preview.describe(position)["samples"]
    assert sample["error"] is None
    image = next(image for image in sample["images"] if image["feature"] == name)
    return image, load(preview, image["url"])


def test_preview_shows_the_pixels_of_the_record(dataset: rm.Dataset) -> None:
    image, pixels = first_image(Preview(dataset.decode(image=rm.Image())), 4)
    assert (image["width"], image["height"], image["mask"], image["boxes"]) == (WIDTH, HEIGHT, None, None)
    assert np.array_equal(pixels, make_pixels(4, WIDTH, HEIGHT))


@pytest.mark.parametrize("layout", ["chw", "hwc"])
@pytest.mark.parametrize(
    "options",
    [
        {"mean": rm.IMAGENET_MEAN, "std": rm.IMAGENET_STD},
        {"dtype": "float32"},
        {"dtype": "float16", "mean": 0.5, "std": 0.25},
        {"mean": 127.5, "std": 64.0, "white": 255.0},
        {"dtype": "uint16"},
        {"channels": "bgr", "mean": 0.3},
    ],
    ids=["imagenet", "float32", "float16", "levels", "uint16", "bgr"],
)
def test_preview_inverts_the_normalization(dataset: rm.Dataset, layout: Any, options: dict[str, Any]) -> None:
    _, pixels = first_image(Preview(dataset.decode(image=rm.Image(layout=layout, **options))), 1)
    differences = pixels.astype(int) - make_pixels(1, WIDTH, HEIGHT)
    assert np.abs(differences).max() <= (1 if options.get("dtype") == "float16" else 0)


def test_preview_of_gray_and_four_channels(dataset: rm.Dataset) -> None:
    _, gray = first_image(Preview(dataset.decode(image=rm.Image(channels="gray"))))
    assert gray.shape == (HEIGHT, WIDTH)
    four = np.random.default_rng(0).integers(0, 256, (5, 7, 4), dtype=np.uint8)
    _, pixels = first_image(Preview(dataset.map(lambda sample: {"image": four})))
    assert np.array_equal(pixels, four)


def test_preview_scales_floats_of_unknown_range(dataset: rm.Dataset) -> None:
    values = np.linspace(-7, 13, 5 * 6 * 3).reshape(5, 6, 3)
    _, pixels = first_image(Preview(dataset.map(lambda sample: {"image": values})))
    assert np.array_equal(pixels, np.rint((values + 7) / 20 * 255).astype(np.uint8))
    unit = np.linspace(0.25, 0.5, 3 * 5 * 6).reshape(3, 5, 6)
    _, pixels = first_image(Preview(dataset.map(lambda sample: {"image": unit})))
    assert np.array_equal(pixels, np.rint(unit.transpose(1, 2, 0) * 255).astype(np.uint8))


def test_preview_scales_images_that_a_function_changed_after_the_decode_stage(dataset: rm.Dataset) -> None:
    decoded = dataset.decode(image=rm.Image(mean=rm.IMAGENET_MEAN, std=rm.IMAGENET_STD))
    _, pixels = first_image(Preview(decoded.map(lambda sample: {"image": sample["image"] * 1000})))
    assert pixels.min() == 0 and pixels.max() == 255


def test_preview_of_constant_and_nonfinite_values(dataset: rm.Dataset) -> None:
    values = np.full((4, 4, 3), np.nan, np.float32)
    values[0, 0] = [np.inf, -np.inf, 2.0]
    _, pixels = first_image(Preview(dataset.map(lambda sample: {"image": values, "other": np.zeros((0, 4, 3))})))
    assert pixels.shape == (4, 4, 3)


def test_preview_varies_between_epochs_as_fetch_does(dataset: rm.Dataset) -> None:
    pipeline = dataset.take(5).decode(image=rm.Image(crop=rm.RandomResizedCrop(12), flip=True), seed=4)
    pipeline = pipeline.map(lambda sample, rng: sample | {"number": rng.integers(1 << 30)}, rng=True)
    preview = Preview(pipeline)
    samples = preview.describe(3, 8)["samples"]
    assert [sample["epoch"] for sample in samples] == list(range(8))
    shown = []
    for epoch, sample in enumerate(samples):
        (expected,) = pipeline.fetch([3], epoch=epoch)
        (image,) = sample["images"]
        shown.append(load(preview, image["url"]))
        assert np.array_equal(shown[-1], expected["image"].transpose(1, 2, 0))
        assert {"name": "number", "text": str(expected["number"])} in sample["values"]
    assert len({pixels.tobytes() for pixels in shown}) == 8


def test_preview_ignores_stages_that_select_order_or_combine_samples(dataset: rm.Dataset) -> None:
    decoded = dataset.decode(image=rm.Image())
    pipelines = [
        decoded.shuffle(seed=3).take(2).skip(1).repeat().batch(2),
        dataset.shuffle(seed=3).decode(image=rm.Image()).filter(lambda sample: False).batch(4),
        decoded.shard(0, 2).batch(2).map(lambda batch: {"image": None}),
    ]
    for pipeline in pipelines:
        _, pixels = first_image(Preview(pipeline), 5)
        assert np.array_equal(pixels, make_pixels(5, WIDTH, HEIGHT))


def test_preview_of_a_mixture_applies_the_stages_of_each_part(dataset: rm.Dataset, tmp_path: Path) -> None:
    with rm.ShardWriter(tmp_path / "other.tfrecord") as writer:
        writer.write({"image": encode_pixels(70)})
    other = rm.open(tmp_path / "other.tfrecord").decode(image=rm.Image())
    flipped = dataset.decode(image=rm.Image(flip=1.0)).map(lambda sample: {"image": sample["image"]})
    preview = Preview(rm.mix([flipped, other], [1, 1], num_samples=4).map(lambda sample: sample | {"mixed": 1}))
    _, pixels = first_image(preview, 2)
    assert np.array_equal(pixels, make_pixels(2, WIDTH, HEIGHT)[:, ::-1])
    _, pixels = first_image(preview, 6)
    assert np.array_equal(pixels, make_pixels(70, WIDTH, HEIGHT))
    assert preview.describe(6)["samples"][0]["values"] == [{"name": "mixed", "text": "1"}]


def test_preview_colors_the_classes_of_masks(dataset: rm.Dataset) -> None:
    preview = Preview(dataset.decode(image=rm.Image(flip=1.0), mask=rm.Mask()))
    sample = preview.describe(2)["samples"][0]
    (image,) = sample["images"]
    overlay = load(preview, image["mask"])
    labels = encode_palette_mask(2, WIDTH, HEIGHT)[1][:, ::-1]
    assert overlay.shape == (HEIGHT, WIDTH, 4)
    assert np.array_equal(overlay[..., 3] == 0, (labels == 0) | (labels == 255))
    colors = {tuple(color) for label in range(1, 21) for color in overlay[labels == label].tolist()}
    assert len(colors) == 20
    assert "mask" not in {value["name"] for value in sample["values"]}


def test_preview_of_a_mask_without_image_is_an_image_of_its_own(dataset: rm.Dataset) -> None:
    mask = rm.Mask(of=None, dtype="int64")
    preview = Preview(dataset.decode(mask=mask).map(lambda sample: {"mask": sample["mask"] + 300}))
    image, pixels = first_image(preview, name="mask")
    assert image["mask"] is None and pixels.shape == (HEIGHT, WIDTH, 4) and (pixels[..., 3] > 0).all()


def test_preview_shows_boxes_as_fractions_with_labels(dataset: rm.Dataset) -> None:
    boxes = rm.Boxes(along=["kinds"])
    pipeline = dataset.decode(image=rm.Image(resize=(32, 12)), boxes=boxes)
    image, _ = first_image(Preview(pipeline), 2)
    expected = [[x0 / WIDTH, y0 / HEIGHT, x1 / WIDTH, y1 / HEIGHT] for x0, y0, x1, y1 in BOXES]
    assert np.allclose(image["boxes"], expected) and image["labels"] == ["dog", "cat"]
    flipped, _ = first_image(Preview(dataset.decode(image=rm.Image(flip=1.0), boxes=rm.Boxes())))
    assert np.allclose(flipped["boxes"], [[1 - x1, y0, 1 - x0, y1] for x0, y0, x1, y1 in expected])
    assert flipped["labels"] is None


def test_preview_shows_keypoints_inside_the_image_as_small_boxes(dataset: rm.Dataset) -> None:
    image, _ = first_image(Preview(dataset.decode(image=rm.Image(), points=rm.Keypoints())))
    centers = [((x0 + x1) / 2, (y0 + y1) / 2) for x0, y0, x1, y1 in image["boxes"]]
    assert np.allclose(centers, [(x / WIDTH, y / HEIGHT) for x, y in POINTS[:2]])
    assert all(0 < x1 - x0 < 0.05 for x0, _, x1, _ in image["boxes"])


def test_preview_shows_other_features_as_short_text(dataset: rm.Dataset) -> None:
    pipeline = dataset.map(lambda sample: sample | {"row": np.arange(1000), "long": b"x" * 9999, "raw": b"\xff\0" * 9})
    (sample,) = Preview(pipeline).describe(3)["samples"]
    texts = {value["name"]: value["text"] for value in sample["values"]}
    assert sample["images"] == [] and texts["label"] == "1" and texts["name"] == "photo 3"
    assert "1000" in texts["row"] and "18 bytes" in texts["raw"]
    assert f"png {WIDTH}x{HEIGHT}" in texts["image"]
    assert all(len(text) <= 200 for text in texts.values())


def test_preview_shows_several_images_of_a_feature(dataset: rm.Dataset) -> None:
    clip = np.random.default_rng(0).integers(0, 256, (3, 5, 7, 3), dtype=np.uint8)
    pipeline = dataset.map(lambda sample: {"a/clip": clip, "views": [clip[0], clip[1, :2]]})
    preview = Preview(pipeline)
    images = preview.describe(0)["samples"][0]["images"]
    assert [(image["feature"], image["height"]) for image in images] == [("a/clip", 5)] * 3 + [
        ("views", 5),
        ("views", 2),
    ]
    assert np.array_equal(load(preview, images[2]["url"]), clip[2])
    assert np.array_equal(load(preview, images[4]["url"]), clip[1, :2])


def test_preview_of_a_function_that_fails_shows_its_error(dataset: rm.Dataset) -> None:
    def fail(sample: dict[str, Any]) -> dict[str, Any]:
        if sample["label"] == 1:
            raise RuntimeError("no such thing")
        return sample

    preview = Preview(dataset.decode(image=rm.Image()).map(fail))
    (sample,) = preview.describe(1)["samples"]
    assert "no such thing" in sample["error"] and (sample["images"], sample["values"]) == ([], [])
    assert preview.describe(0)["samples"][0]["error"] is None
    with pytest.raises(KeyError, match="no such thing"):
        preview.encode_image(1, 0, "image", 0)


def test_preview_of_an_image_that_is_damaged_shows_its_error(tmp_path: Path) -> None:
    with rm.ShardWriter(tmp_path / "a.tfrecord") as writer:
        writer.write({"image": encode_jpeg(0)})
        writer.write({"image": b"no image"})
    preview = Preview(rm.open(tmp_path / "a.tfrecord").decode(image=rm.Image()))
    assert "image" in preview.describe(1)["samples"][0]["error"]
    assert preview.describe(0)["samples"][0]["error"] is None


def test_preview_raises_for_records_epochs_and_images_that_do_not_exist(dataset: rm.Dataset) -> None:
    preview = Preview(dataset.decode(image=rm.Image()))
    for position in (-1, 6):
        with pytest.raises(IndexError, match="out of range for 6 records"):
            preview.describe(position)
    for num_epochs in (0, 9):
        with pytest.raises(ValueError, match="from 1 to 8"):
            preview.describe(0, num_epochs)
    for name, number in (("image", 1), ("label", 0), ("other", 0)):
        with pytest.raises(KeyError, match="images in feature"):
            preview.encode_image(0, 0, name, number)


def test_preview_calls_functions_once_per_sample_and_not_at_the_same_time(dataset: rm.Dataset) -> None:
    calls: list[int] = []
    running = threading.Semaphore(1)

    def record(sample: dict[str, Any]) -> dict[str, Any]:
        assert running.acquire(blocking=False), "the function is called by two threads"
        threading.Event().wait(0.01)
        calls.append(int(sample["label"]))
        running.release()
        return sample

    preview = Preview(dataset.decode(image=rm.Image(flip=True)).map(record))
    failures: list[str] = []

    def request() -> None:
        for sample in preview.describe(0, 4)["samples"]:
            if sample["error"]:
                failures.append(sample["error"])
            else:
                load(preview, sample["images"][0]["url"])

    threads = [threading.Thread(target=request) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == [] and len(calls) == 4


def test_preview_keeps_few_samples(dataset: rm.Dataset) -> None:
    calls: list[int] = []

    def enlarge(sample: dict[str, Any]) -> dict[str, Any]:
        calls.append(1)
        return {"data": np.zeros(40 << 20, np.uint8)}

    preview = Preview(dataset.map(enlarge))
    for position in (0, 1, 1, 0):
        preview.describe(position)
    assert len(calls) == 3
