"""Bytes of shards and index files for each format, source, compression and number of workers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import recordmill as rm
from tools.behavior.digest import Results
from tools.behavior.images import COLOR_JPEGS, PNGS, read_image

FORMATS = ("tfrecord", "ofrecord", "recordio")
PAYLOADS = {
    "tfrecord": ("example", "sequence_example", "raw"),
    "ofrecord": ("ofrecord", "raw"),
    "recordio": ("irheader", "raw"),
}
MASKED = (("photo_422", "mask_palette"), ("photo_422", "mask_gray"))


def read_files(folder: Path) -> list[Any]:
    """Return names and bytes of all files in a folder, hidden ones included, except manifests."""
    files = [path for path in sorted(folder.iterdir()) if path.is_file() and not path.name.endswith(".manifest.json")]
    return [[path.name, path.read_bytes()] for path in files]


def make_examples(count: int = 11) -> Iterator[dict[str, Any]]:
    """Yield examples with features of each kind."""
    rng = np.random.default_rng(2)
    for number in range(count):
        yield {
            "id": number,
            "big": np.array([-(2**63), 2**63 - 1, number]),
            "weight": np.float32(rng.random()),
            "values": rng.random(number).astype(np.float32),
            "name": f"sample {number}".encode(),
            "words": [b"a" * length for length in range(number % 4)],
        }


def to_image_record(example: dict[str, Any]) -> dict[str, Any]:
    """Return the features of an example that an image record can hold."""
    return {"image": example["name"], "label": example["weight"], "id": example["id"]}


def make_sources(folder: Path) -> dict[str, Callable[[], Any]]:
    """Write image files, lists and tables once; return sources by name."""
    root = folder / "sources"
    if not root.exists():
        _write_files(root)
    return {
        "ImageFolder": lambda: rm.ImageFolder(root / "classes"),
        "ImageFolder/classes": lambda: rm.ImageFolder(root / "classes", classes=["b", "a", "c"]),
        "ImageFolder/no_labels": lambda: rm.ImageFolder(root / "classes", labels=None),
        "LabelFile": lambda: rm.LabelFile(root / "labels.jsonl", root / "flat"),
        "ListFile": lambda: rm.ListFile(root / "list.lst", root / "flat"),
        "Table": lambda: rm.Table(root / "table.csv", root / "flat", features=["id", "score"]),
        "Table/classes": lambda: rm.Table(root / "table.csv", root / "flat", label="word", classes="auto"),
        "Table/vector": lambda: rm.Table(root / "table.csv", root / "flat", label=["label", "score"]),
        "ImagePairs": lambda: rm.ImagePairs(root / "images", root / "masks"),
        "ImagePairs/voc": lambda: rm.ImagePairs.voc(root / "voc"),
    }


def _write_files(root: Path) -> None:
    classes, flat = ("a", "b", "c"), root / "flat"
    names = [*COLOR_JPEGS, *PNGS[:2]]
    flat.mkdir(parents=True)
    lines: dict[str, list[str]] = {"labels.jsonl": [], "list.lst": [], "table.csv": ["path,label,id,score,word"]}
    for number, name in enumerate(names):
        file = f"{number:02}{'.png' if name in PNGS else '.jpg'}"
        data = read_image(name)
        (root / "classes" / classes[number % 3]).mkdir(parents=True, exist_ok=True)
        (root / "classes" / classes[number % 3] / file).write_bytes(data)
        (flat / file).write_bytes(data)
        lines["labels.jsonl"].append(f'{{"{file}": {number % 4}}}')
        lines["list.lst"].append(f"{10 * number}\t{number % 5}.500000\t{file}")
        lines["table.csv"].append(f"{file},{number % 4},{number * 3},{number / 4},{'xyz'[number % 3]}")
    for name, rows in lines.items():
        (root / name).write_text("\n".join(rows) + "\n", "utf-8")
    _write_pairs(root)


def _write_pairs(root: Path) -> None:
    for images, masks in (("images", "masks"), ("voc/JPEGImages", "voc/SegmentationClass")):
        (root / images).mkdir(parents=True)
        (root / masks).mkdir(parents=True)
        for number, (image, mask) in enumerate(MASKED * 2):
            (root / images / f"p{number}.jpg").write_bytes(read_image(image))
            (root / masks / f"p{number}.png").write_bytes(read_image(mask))
    (root / "voc/ImageSets/Segmentation").mkdir(parents=True)
    (root / "voc/ImageSets/Segmentation/train.txt").write_text("p2\np0\np3\n")


def record_packed(folder: Path) -> Results:
    """Yield the names and bytes of all files that packing and writing leave."""
    yield from _sources(folder)
    yield from _pack_options(folder)
    yield from _examples(folder)
    yield from _writers(folder)
    yield from _indexes(folder)


def _pack(folder: Path, source: Any, **options: Any) -> Any:
    """Pack into a new folder; return its files, counts and skipped items, or the name of the exception."""
    number = len(list(folder.glob("packed-*")))
    destination = folder / f"packed-{number}"
    destination.mkdir()
    try:
        result = rm.pack(source, destination / "part", progress=False, **options)
    except (rm.RecordmillError, ValueError) as error:
        return [type(error).__name__, read_files(destination)]
    skipped = [name for name, _ in result.skipped]
    return [read_files(destination), result.num_records, result.num_bytes, skipped]


def _sources(folder: Path) -> Results:
    for name, make_source in make_sources(folder).items():
        for format_name in FORMATS:
            for workers in (1, 2):
                options = {"format": format_name, "shards": 2, "workers": workers}
                yield f"source/{name}/{format_name}/workers={workers}", _pack(folder, make_source(), **options)
    source, options = make_sources(folder)["ImageFolder"](), {"shards": 2, "workers": 2, "worker_kind": "processes"}
    yield "source/processes", _pack(folder, source, keep_shape=True, **options)
    (folder / "sources/classes/a/broken.jpg").write_bytes(b"\xff\xd8 not an image")
    for on_error in ("stop", "skip"):
        yield f"on_error={on_error}", _pack(folder, source, check="decode", on_error=on_error)
    (folder / "sources/classes/a/broken.jpg").unlink()


def _pack_options(folder: Path) -> Results:
    sources = make_sources(folder)
    choices: dict[str, dict[str, Any]] = {
        "one_shard": {},
        "many_shards": {"shards": 5},
        "max_shard_bytes": {"max_shard_bytes": 9000},
        "gzip": {"compression": "gzip", "shards": 2},
        "zlib": {"compression": "zlib", "compression_level": 1},
        "features": {"image_feature": "picture", "label_feature": "class", "keep_shape": True, "keep_name": True},
        "name_feature": {"keep_name": "file"},
        "shuffle": {"shuffle": 5, "shards": 2},
        "shuffle_workers": {"shuffle": 5, "shards": 2, "workers": 2},
        "check_header": {"check": "header"},
        "check_decode": {"check": "decode"},
        "check_none": {"check": "none"},
        "entry_points": {"entry_points": True},
        "no_index": {"index": "never"},
        **{f"label_kind={kind}": {"label_kind": kind} for kind in ("int32", "int64", "float32", "vector")},
    }
    for name, options in choices.items():
        for format_name in FORMATS:
            packed = _pack(folder, sources["ImageFolder"](), format=format_name, **options)
            yield f"option/{name}/{format_name}", packed
    yield from _encoded(folder)
    for mask in ("png", "raw"):
        for format_name in FORMATS:
            packed = _pack(folder, sources["ImagePairs"](), format=format_name, mask=mask)
            yield f"option/mask={mask}/{format_name}", packed


def _encoded(folder: Path) -> Results:
    """Yield pixels instead of bytes, because Pillow writes these files, and their bytes depend on its version."""
    choices: dict[str, dict[str, Any]] = {
        "png": {},
        "gray": {"color": False},
        "upright": {"color": True, "exif": True, "workers": 2},
        "cropped": {"center_crop": 40},
    }
    for name, options in choices.items():
        path = folder / f"encoded-{name}"
        rm.pack(make_sources(folder)["ImageFolder"](), path / "part", format="tfrecord", encode="png", **options)
        yield f"encode/{name}", [rm.decode_png(sample["image"]) for sample in rm.open(path)]


def _examples(folder: Path) -> Results:
    for format_name, payloads in PAYLOADS.items():
        for payload in payloads:
            rows: Any = (example["name"] for example in make_examples()) if payload == "raw" else make_examples()
            if payload == "irheader":
                rows = map(to_image_record, make_examples())
            packed = _pack(folder, rows, format=format_name, payload=payload, shards=2)
            yield f"examples/{format_name}/{payload}", packed
    yield "examples/shuffle", _pack(folder, list(make_examples()), format="tfrecord", shuffle=4)


def _writers(folder: Path) -> Results:
    choices: dict[str, dict[str, Any]] = {
        "plain": {},
        "shards": {"shards": 3},
        "max_shard_bytes": {"max_shard_bytes": 300},
        "gzip": {"compression": "gzip"},
        "zlib": {"compression": "zlib", "compression_level": 9},
        "no_index": {"index": "never"},
    }
    for name, options in choices.items():
        for format_name in FORMATS:
            yield f"ShardWriter/{name}/{format_name}", _write(folder, format_name, options)
    for format_name in FORMATS:
        path = folder / f"payloads-{format_name}"
        path.mkdir()
        with rm.PayloadWriter(path / "part", format=format_name) as writer:
            for number in range(20):
                writer.write(bytes(range(1 + number * 3)))
        with rm.PayloadReader(path / "part", format=format_name) as reader:
            payloads = [reader.read() for _ in range(21)]
        yield f"PayloadWriter/{format_name}", [read_files(path), payloads]


def _write(folder: Path, format_name: str, options: dict[str, Any]) -> Any:
    path = folder / f"written-{len(list(folder.glob('written-*')))}"
    path.mkdir()
    try:
        with rm.ShardWriter(path / "part", format=format_name, **options) as writer:
            for example in make_examples():
                writer.write(to_image_record(example) if format_name == "recordio" else example)
    except (rm.RecordmillError, ValueError) as error:
        return type(error).__name__
    files = read_files(path)
    return [files, rm.open(path).to_numpy()]


def _indexes(folder: Path) -> Results:
    sources = make_sources(folder)
    for format_name in FORMATS:
        for name, options in {
            "plain": {},
            "no_checksums": {"checksums": False},
            "foreign": {"foreign": True},
            "entry_points": {"entry_points": True},
        }.items():
            path = folder / f"index-{format_name}-{name}"
            rm.pack(sources["ImageFolder"](), path / "part", format=format_name, shards=2, index="never")
            try:
                written = [Path(one).name for one in rm.build_index(path, **options)]  # type: ignore[arg-type]
            except (rm.RecordmillError, ValueError) as error:
                written = [type(error).__name__]
            yield f"index/{name}/{format_name}", [written, read_files(path)]
