"""Entry points: found in all formats, read by position, bound to their shard, optional."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

import recordmill as rm
from recordmill import _core
from recordmill.shards.collection import ShardCollection
from recordmill.shards.index import ENTRY_POINTS_SUFFIX, cache_path, sidecar_path
from recordmill.storage.local import LOCAL, LocalStorage
from tests.shards.helpers import FORMATS


def photo(seed: int, side: int = 160, **options: Any) -> bytes:
    """Encode noise, so that few pixels make many bytes."""
    pixels = np.random.default_rng(seed).integers(0, 256, (side, side, 3), np.uint8)
    out = io.BytesIO()
    Image.fromarray(pixels).save(out, "JPEG", quality=90, **options)
    return out.getvalue()


PHOTOS = [photo(seed) for seed in range(6)]
OTHERS = [photo(7, 16), photo(8, progressive=True), photo(9, restart_marker_rows=1), b"no image", b""]
MIXED = [PHOTOS[0], OTHERS[0], PHOTOS[1], *OTHERS[1:], *PHOTOS[2:]]


def write_images(folder: Path, format_name: str = "tfrecord", images: list[bytes] = MIXED, **options: Any) -> list[str]:
    with rm.ShardWriter(folder / "train", format=format_name, **options) as writer:
        for number, data in enumerate(images):
            writer.write({"image": data, "label": number})
    return writer.paths


def entry_points_path(path: str) -> Path:
    return Path(sidecar_path(path, ENTRY_POINTS_SUFFIX))


def expected_tables(images: list[bytes]) -> list[bytes]:
    """Return the table of each image; table and directory entry together must not exceed 1 % of the image."""
    return [rm.find_entry_points([data], max_share=max(0.01 - 16 / max(len(data), 1), 1e-9))[0] for data in images]


@pytest.mark.parametrize("format_name", FORMATS)
def test_entry_points_are_read_by_position_across_shards(tmp_path: Path, format_name: str) -> None:
    paths = write_images(tmp_path, format_name, shards=3)
    written = rm.build_index(paths, entry_points=True)
    assert [name for name in written if name.endswith(ENTRY_POINTS_SUFFIX)] == [
        str(entry_points_path(path)) for path in paths
    ]
    assert sum(entry_points_path(path).stat().st_size for path in paths) < 0.02 * sum(map(len, MIXED))
    shards = ShardCollection(paths)
    images = [example["image"] for example in shards.__getitems__(range(len(shards)))]
    expected = expected_tables(images)
    assert sum(map(bool, expected)) == len(PHOTOS)
    for positions in ([10, 0, 3, 3, 7, 2], range(1, 3), range(0, 11, 2), list(range(11)), [4]):
        rows = positions if isinstance(positions, range) else np.array(positions)
        found = shards.entry_points(rows, "image")
        assert found is not None and list(found) == [expected[row] for row in positions]


def test_decode_batch_with_entry_points_equals_decode_without(tmp_path: Path) -> None:
    paths = write_images(tmp_path, images=PHOTOS)
    rm.build_index(paths, entry_points="image")
    shards = ShardCollection(paths)
    rows = np.array([5, 1, 2])
    points = shards.entry_points(rows, "image")
    assert points is not None and all(points)
    spec = {"image": rm.Image(crop=rm.RandomResizedCrop(32))}
    columns = shards.columns(rows)
    plain = rm.decode_batch(columns, spec, rng=1)["image"]
    np.testing.assert_array_equal(rm.decode_batch(columns, spec, rng=1, entry_points=points)["image"], plain)


@pytest.mark.parametrize("options", [{"compression": "gzip"}, {"payload": "raw"}], ids=["gzip", "raw"])
def test_entry_points_support_compressed_and_raw_shards(tmp_path: Path, options: Any) -> None:
    with rm.ShardWriter(tmp_path / "train", **options) as writer:
        for data in PHOTOS:
            writer.write(data if "payload" in options else {"payload": data})
    rm.build_index(writer.paths, entry_points=True)
    found = ShardCollection(writer.paths).entry_points(range(6), "payload")
    assert found is not None and list(found) == expected_tables(PHOTOS)


def test_entry_points_are_separate_for_each_feature(tmp_path: Path) -> None:
    with rm.ShardWriter(tmp_path / "train") as writer:
        for number in range(5):
            writer.write({"left": PHOTOS[number], "name": f"{number}", "right": MIXED[number]})
    rm.build_index(writer.paths, entry_points=["left", "right"], threads=1)
    shards = ShardCollection(writer.paths)
    rows = np.array([4, 0, 2])
    for feature, images in (("left", PHOTOS), ("right", MIXED)):
        found = shards.entry_points(rows, feature)
        assert found is not None and list(found) == expected_tables([images[row] for row in rows])
    assert shards.entry_points(rows, "name") is None


def test_build_index_writes_no_entry_points_for_small_images(tmp_path: Path) -> None:
    paths = write_images(tmp_path, images=OTHERS)
    assert rm.build_index(paths, entry_points=True) == [sidecar_path(paths[0])]
    assert ShardCollection(paths).entry_points(range(3), "image") is None
    assert not any(name.endswith(".rme") for name in os.listdir(tmp_path))


def test_build_index_names_feature_without_images(tmp_path: Path) -> None:
    paths = write_images(tmp_path)
    for name, found in (("label", "int64"), ("picture", "image")):
        with pytest.raises(rm.FeatureError, match=name) as caught:
            rm.build_index(paths, entry_points=name)
        assert found in str(caught.value)
    assert not entry_points_path(paths[0]).exists()


def test_entry_points_of_replaced_shard_are_ignored(tmp_path: Path) -> None:
    paths = write_images(tmp_path, images=PHOTOS)
    rm.build_index(paths, entry_points=True)
    table = entry_points_path(paths[0]).read_bytes()
    write_images(tmp_path, images=PHOTOS[::-1], overwrite=True)
    assert not entry_points_path(paths[0]).exists()
    entry_points_path(paths[0]).write_bytes(table)
    assert ShardCollection(paths).entry_points(range(6), "image") is None


def test_entry_points_of_appended_shard_serve_old_records(tmp_path: Path) -> None:
    paths = write_images(tmp_path, images=PHOTOS[:4])
    rm.build_index(paths, entry_points=True)
    more = write_images(tmp_path / "more", images=PHOTOS[4:])
    with Path(paths[0]).open("ab") as file:
        file.write(Path(more[0]).read_bytes())
    found = ShardCollection(paths).entry_points(range(6), "image")
    assert found is not None and list(found) == [*expected_tables(PHOTOS[:4]), b"", b""]


def test_damaged_entry_points_do_not_change_pixels(tmp_path: Path) -> None:
    paths = write_images(tmp_path, images=PHOTOS[:3])
    rm.build_index(paths, entry_points=True)
    data = entry_points_path(paths[0]).read_bytes()
    broken = [data[:at] + bytes([data[at] ^ 0x55]) + data[at + 1 :] for at in range(0, len(data), 5)]
    broken += [data[:length] for length in range(0, len(data), 29)] + [data + b"\0", b"junk" * 40]
    spec, rows = {"image": rm.Image(crop=rm.RandomResizedCrop(8))}, range(3)
    plain = rm.decode_batch(PHOTOS[:3], spec, rng=4)["image"]
    num_left = 0
    for content in broken:
        entry_points_path(paths[0]).write_bytes(content)
        points = ShardCollection(paths).entry_points(rows, "image")
        num_left += points is not None
        np.testing.assert_array_equal(rm.decode_batch(PHOTOS[:3], spec, rng=4, entry_points=points)["image"], plain)
    assert 0 < num_left < len(broken)


def test_entry_points_are_empty_after_their_file_was_removed(tmp_path: Path) -> None:
    paths = write_images(tmp_path, images=PHOTOS)
    rm.build_index(paths, entry_points=True)
    shards = ShardCollection(paths)
    assert shards.entry_points(range(6), "image") is not None
    entry_points_path(paths[0]).unlink()
    found = shards.entry_points(range(6), "image")
    assert found is not None and list(found) == [b""] * 6


def test_entry_points_of_read_only_directory_are_saved_in_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RECORDMILL_CACHE", str(tmp_path / "cache"))
    paths = write_images(tmp_path / "data", images=PHOTOS)
    create = LOCAL.create_output

    def refuse(path: str, *, overwrite: bool) -> Any:
        if path.startswith(str(tmp_path / "data")):
            raise rm.WriteError("cannot create a file", shard=path)
        return create(path, overwrite=overwrite)

    monkeypatch.setattr(LOCAL, "create_output", refuse)
    assert cache_path(paths[0], ENTRY_POINTS_SUFFIX) in rm.build_index(paths, entry_points=True)
    found = ShardCollection(paths).entry_points(range(6), "image")
    assert found is not None and list(found) == expected_tables(PHOTOS)


class CountingSource:
    """A source that notes the length of each read."""

    def __init__(self, source: Any, lengths: list[int]) -> None:
        self.source, self.num_bytes, self.lengths = source, source.num_bytes, lengths

    def read(self, offset: int, length: int) -> Any:
        self.lengths.append(length)
        return self.source.read(offset, length)


class CountingStorage(LocalStorage):
    """Local storage that notes the length of each read from files with entry points."""

    def __init__(self) -> None:
        self.lengths: list[int] = []

    def open(self, paths: Sequence[str], *args: Any, **options: Any) -> Any:
        source = super().open(paths, *args, **options)
        return CountingSource(source, self.lengths) if paths[0].endswith(ENTRY_POINTS_SUFFIX) else source


def test_entry_points_reads_only_tables_of_given_positions(tmp_path: Path) -> None:
    paths = write_images(tmp_path, images=PHOTOS)
    rm.build_index(paths, entry_points=True)
    storage = CountingStorage()
    shards = ShardCollection(paths, storage=storage)
    shards.entry_points(range(1), "image")
    storage.lengths.clear()
    found = shards.entry_points(np.array([4, 2]), "image")
    assert found is not None
    assert storage.lengths == np.diff(found.row_splits).tolist()


@pytest.mark.parametrize("format_name", FORMATS)
def test_pack_writes_same_entry_points_as_build_index(tmp_path: Path, format_name: str) -> None:
    for number, data in enumerate(PHOTOS):
        (tmp_path / "photos" / f"{number % 2}").mkdir(parents=True, exist_ok=True)
        (tmp_path / "photos" / f"{number % 2}" / f"{number}.jpg").write_bytes(data)
    source = rm.ImageFolder(tmp_path / "photos")
    kinds = {}
    for workers in (1, 2):
        out = tmp_path / f"{workers}"
        packed = rm.pack(source, out / "train", format=format_name, shards=2, workers=workers, entry_points=True)
        kinds[workers] = [entry_points_path(path).read_bytes() for path in packed.paths]
    assert kinds[1] == kinds[2]
    for path in packed.paths:
        entry_points_path(path).unlink()
    rm.build_index(packed.paths, entry_points=True)
    assert [entry_points_path(path).read_bytes() for path in packed.paths] == kinds[1]


@pytest.mark.parametrize(
    "change",
    [{"num_stored_bytes": float("inf")}, {"num_stored_bytes": -1}, {"probes": [[-1, 0]]}, {"probes": []}],
    ids=str,
)
def test_entry_points_with_impossible_description_are_ignored(tmp_path: Path, change: dict[str, Any]) -> None:
    paths = write_images(tmp_path, images=PHOTOS)
    rm.build_index(paths, entry_points=True)
    data = entry_points_path(paths[0]).read_bytes()
    start, length = int.from_bytes(data[-16:-8], "little"), int.from_bytes(data[-8:-4], "little")
    text = json.dumps(json.loads(data[-16 - length : -16]) | change).encode()
    body = data[start : -16 - length] + text + data[-16:-8] + len(text).to_bytes(4, "little")
    entry_points_path(paths[0]).write_bytes(data[:start] + body + _core.crc32c(body).to_bytes(4, "little"))
    assert ShardCollection(paths).entry_points(range(6), "image") is None
