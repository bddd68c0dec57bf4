"""The decode stage: equal to single calls of decode_batch, and independent of batches, threads and ranks."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

import recordmill as rm
from tests.images import encode_image

SPEC = {"image": rm.Image(crop=rm.RandomResizedCrop(12), flip=True, mean=rm.IMAGENET_MEAN, std=rm.IMAGENET_STD)}


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> rm.Dataset:
    folder = tmp_path_factory.mktemp("pictures")
    random = np.random.default_rng(0)
    with rm.ShardWriter(folder / "part", shards=3) as writer:
        for number in range(64):
            height, width = random.integers(16, 40, 2)
            pixels = random.integers(0, 256, (height, width, 3), np.uint8)
            writer.write(
                {"image": encode_image(Image.fromarray(pixels), "JPEG" if number % 3 else "PNG"), "id": number}
            )
    return rm.open(folder)


def digest(batches: list[dict[str, Any]]) -> str:
    hasher = hashlib.sha256()
    for batch in batches:
        hasher.update(batch["id"].tobytes())
        hasher.update(np.ascontiguousarray(batch["image"]).tobytes())
    return hasher.hexdigest()


def test_loader_equals_single_decode_calls(dataset: rm.Dataset) -> None:
    pipeline = dataset.shuffle(seed=3).decode(SPEC).batch(16)
    order = [int(sample["id"]) for sample in dataset.shuffle(seed=3).fetch(range(64), epoch=2)]
    by_id = {int(sample["id"]): sample for sample in dataset}
    samples = [by_id[number] for number in order]
    loader = pipeline.loader(threads=2)
    loader.set_epoch(2)
    for number, batch in enumerate(loader):
        rows = range(16 * number, 16 * number + 16)
        expected = [rm.decode_batch([samples[row]], SPEC, rng=3, epoch=2, positions=[row])["image"][0] for row in rows]
        assert batch["id"].tolist() == [order[row] for row in rows]
        assert np.array_equal(batch["image"], np.stack(expected))


def test_pixels_do_not_depend_on_batches_threads_and_ranks(dataset: rm.Dataset) -> None:
    def run(size: int, **options: Any) -> list[dict[str, Any]]:
        return list(dataset.shuffle(seed=1).decode(SPEC).batch(size, last="drop").loader(**options))

    expected = digest(run(16, threads=0))
    assert {digest(run(16, threads=threads)) for threads in (1, 2, 8)} == {expected}
    for world_size in (2, 4):
        ranks = [run(16 // world_size, rank=rank, world_size=world_size) for rank in range(world_size)]
        together = [
            {name: np.concatenate([row[name] for row in rows]) for name in ("id", "image")}
            for rows in zip(*ranks, strict=True)
        ]
        assert digest(together) == expected


def test_stored_entry_points_do_not_change_pixels(tmp_path: Path) -> None:
    noise = np.random.default_rng(1).integers(0, 256, (160, 160, 3), np.uint8)
    with rm.ShardWriter(tmp_path / "part", shards=2) as writer:
        for number in range(12):
            writer.write({"image": encode_image(Image.fromarray(noise), "JPEG", quality=90 - number), "id": number})
    pipeline = rm.open(tmp_path).shuffle(seed=1).decode(SPEC).batch(4)
    plain = digest(list(pipeline.loader()))
    rm.build_index(tmp_path, entry_points=True)
    dataset = rm.open(tmp_path)
    kept = dataset.origin.sources[0].entry_points(range(12), "image")
    assert kept is not None
    assert all(len(table) for table in kept)
    assert digest(list(dataset.shuffle(seed=1).decode(SPEC).batch(4).loader())) == plain


def test_loader_does_not_reuse_memory_of_referenced_batches(dataset: rm.Dataset) -> None:
    spec = {"image": rm.Image(crop=rm.RandomResizedCrop(160), mean=0.5)}
    batches = list(dataset.decode(spec).batch(16).loader(threads=2))
    assert digest(batches) == digest(list(dataset.decode(spec).batch(16)))


def test_decode_before_shuffle_keeps_crop_of_record(dataset: rm.Dataset) -> None:
    early = dataset.decode(SPEC, seed=5).shuffle(seed=1).batch(64)[0]
    plain = dataset.decode(SPEC, seed=5).batch(64)[0]
    rows = np.argsort(early["id"])
    assert np.array_equal(early["image"][rows], plain["image"][np.argsort(plain["id"])])


def test_repeat_changes_random_parameters_in_each_repetition(dataset: rm.Dataset) -> None:
    batches = list(dataset.decode(SPEC).repeat(2).batch(64))
    assert batches[0]["id"].tolist() == batches[1]["id"].tolist()
    assert not np.array_equal(batches[0]["image"], batches[1]["image"])
    across = dataset.decode(SPEC).repeat(2).batch(48)[1]
    assert np.array_equal(across["image"], np.concatenate([batches[0]["image"][48:], batches[1]["image"][:32]]))


def test_map_receives_decoded_arrays(dataset: rm.Dataset) -> None:
    def brighter(sample: dict[str, Any]) -> dict[str, Any]:
        return sample | {"image": np.clip(sample["image"].astype(np.int16) + 10, 0, 255).astype(np.uint8)}

    plain = dataset.decode(image=rm.Image(resize=(8, 8), dtype="uint8", layout="hwc"))
    one, other = plain.batch(64)[0], plain.map(brighter).batch(64)[0]
    assert other["image"].shape == (64, 8, 8, 3)
    assert np.array_equal(other["image"], np.minimum(one["image"].astype(int) + 10, 255))


def test_stats_name_stages_and_bottleneck(dataset: rm.Dataset) -> None:
    loader = dataset.decode(SPEC).batch(16).loader(threads=2)
    assert loader.stats().bottleneck == "No batch was delivered yet."
    list(loader)
    stats = loader.stats()
    assert (stats.elements, stats.samples, stats.workers) == (4, 64, 2)
    assert {"read", "decode", "batch"} == {stage.name for stage in stats.stages}
    assert stats.num_bytes > 64 * 300
    assert stats.to_json()["stages"]["decode"]["busy_s"] > 0
    assert str(stats).splitlines()[-1] == stats.bottleneck


def test_decode_max_pixels_limits_images(tmp_path: Path) -> None:
    with rm.ShardWriter(tmp_path / "large") as writer:
        writer.write({"image": encode_image(Image.new("RGB", (50, 40)), "PNG")})
    samples, image = rm.open(tmp_path), rm.Image(resize=8)
    assert samples.decode(image=image, max_pixels=2000)[0]["image"].shape == (3, 8, 10)
    with pytest.raises(rm.DecodeError, match="at most 1,999 pixels") as caught:
        list(samples.decode(image=image, max_pixels=1999).batch(1).loader())
    assert caught.value.record == 0
    with pytest.raises(ValueError, match="max_pixels must be a positive integer, got 0"):
        samples.decode(image=image, max_pixels=0)
