"""Records, features and faults read from the files that the original frameworks wrote."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import recordmill as rm
from tools.behavior.digest import Results
from tools.behavior.packed import FORMATS, make_examples

RECORDINGS = Path(__file__).parents[2] / "tests" / "recordings"
FOLDERS = ("mxnet", "tensorflow", "oneflow")
ENDINGS = (".rec", ".tfrecord", ".gz", ".zlib")
PART = "part-"


def _find_shards() -> list[Path]:
    files = [path for folder in FOLDERS for path in sorted((RECORDINGS / folder).rglob("*")) if path.is_file()]
    return [path for path in files if path.suffix in ENDINGS or path.name.startswith(PART)]


def _result_of(function: Callable[..., Any], *args: Any, **options: Any) -> Any:
    """Return the result of a call, or type, kind, record and offset of its error."""
    try:
        return function(*args, **options)
    except rm.RecordmillError as error:
        return [type(error).__name__, error.kind, error.record, error.offset]
    except (ValueError, TypeError, LookupError) as error:
        return type(error).__name__


def record_reading(folder: Path) -> Results:
    """Yield records, features, faults and summaries of each recorded file."""
    for path in _find_shards():
        name = path.relative_to(RECORDINGS).as_posix()
        copy = folder / name
        copy.parent.mkdir(parents=True, exist_ok=True)
        for sibling in path.parent.glob(f"{path.stem}.*"):
            shutil.copy(sibling, copy.parent / sibling.name)
        shutil.copy(path, copy)
        yield (
            name,
            {
                "records": _result_of(_read_records, copy),
                "features": _result_of(_read_features, copy),
                "faults": _result_of(_find_faults, copy),
                "info": _result_of(_summarize, copy),
            },
        )
    yield from _batches(folder)
    yield from _lists()
    for path in sorted((RECORDINGS / "mxnet" / "faces").glob("*/train.rec")):
        faces = rm.read_faces(folder / path.relative_to(RECORDINGS))
        yield f"faces/{path.parent.name}", [faces.images, faces.identities, faces.properties]


def _read_records(path: Path) -> Any:
    with rm.ShardReader(path) as reader:
        last_first = np.arange(len(reader))[::-1]
        return [list(reader), reader.fetch(last_first), reader.index.offsets, reader.index.lengths]


def _read_features(path: Path) -> Any:
    return rm.open(path).to_numpy()


def _find_faults(path: Path) -> Any:
    report = rm.verify(path)
    return [report.num_records, [[fault.kind, fault.record, fault.offset] for fault in report.faults]]


def _summarize(path: Path) -> Any:
    info = rm.info(path)
    shards = [[shard.format, shard.compression, shard.num_records, shard.num_bytes] for shard in info.shards]
    return [shards, info.payload, info.num_sampled, _describe(info.schema)]


def _describe(schema: Any) -> Any:
    return {
        name: [feature.kind, list(feature.shape), feature.sequence, feature.optional, feature.default]
        for name, feature in (schema or {}).items()
    }


def _batches(folder: Path) -> Results:
    for format_name in FORMATS[:2]:
        path = folder / f"batches-{format_name}"
        rm.pack(make_examples(), path / "part", format=format_name, shards=2)
        dataset = rm.open(path)
        for ragged in ("ragged", "pad", "list"):
            yield f"batch/{format_name}/ragged={ragged}", dataset.batch(4, ragged=ragged)[:]
        yield f"batch/{format_name}/samples", dataset[:]
        yield f"batch/{format_name}/schema", _describe(dataset.schema)
        payloads = [record for shard in sorted(path.glob("part*")) for record in rm.ShardReader(shard)]
        payload = "example" if format_name == "tfrecord" else "ofrecord"
        yield f"parse_payloads/{format_name}", rm.parse_payloads(payloads, dataset.schema, payload=payload)


def _lists() -> Results:
    for path in sorted((RECORDINGS / "mxnet" / "lists").rglob("*.lst")):
        read = _result_of(_read_list, path.read_bytes())
        yield f"image_list/{path.stem}", read
    keys, labels, names = [3, 1, 2], [[0.5, 1], [2, 3.25], [4, 5]], ["a.jpg", "b c.jpg", "d.png"]
    yield "image_list/written", rm.format_image_list(keys, labels, names)
    yield "image_list/decimals", rm.format_image_list(keys, [1, 2, 3], names, decimals=None)


def _read_list(data: bytes) -> Any:
    images = rm.read_image_list(data)
    return [images.keys, images.labels, images.names, images.lines]
