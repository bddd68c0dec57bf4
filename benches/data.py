"""Create the datasets that are missing."""

from __future__ import annotations

import io
import os
import subprocess
from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from benches import photographs, recipes
from benches.jobs import rows, shards
from benches.recipes import NUM_SHARDS, Sizes

ROOT = str(Path(__file__).parents[1])
IMAGES = ("photos", "digits", "large", "progressive", "pngs")
# Kinds of data that use the image files of another kind.
_FROM = {"arrays": "digits", "sorted": "digits"}


def ensure(folder: str, kinds: Iterable[str], sizes: Sizes, data_python: str | None) -> None:
    """Create the datasets that are missing.

    Parameters
    ----------
    folder : str
    kinds : iterable of str
    sizes : Sizes
        Stored with the data; ignored if sizes are stored there already.
    data_python : str or None
        Interpreter with the packages that contain photographs. None draws small images instead.
    """
    os.makedirs(os.path.join(folder, "tfrecord"), exist_ok=True)
    missing = [kind for kind in kinds if len(shards(folder, kind)) < NUM_SHARDS]
    if missing and not os.path.exists(os.path.join(folder, "sizes.json")):
        sizes.save(folder)
    sizes = Sizes.load(folder)
    kinds = {*kinds, *(_FROM[kind] for kind in missing if kind in _FROM)}
    if any(not os.path.exists(os.path.join(folder, f"{kind}.json")) for kind in IMAGES if kind in kinds):
        _make_images(folder, sorted(kinds & set(IMAGES)), sizes, data_python)
    for kind in missing:
        for shard in range(NUM_SHARDS):
            _write_shard(folder, kind, shard, getattr(sizes, kind) // NUM_SHARDS)


def _make_images(folder: str, kinds: list[str], sizes: Sizes, data_python: str | None) -> None:
    if data_python is not None:
        counts = [f"{kind}={getattr(sizes, kind)}" for kind in kinds]
        command = [data_python, "-m", "benches.photographs", folder, *counts]
        subprocess.run(command, check=True, env=os.environ | {"PYTHONPATH": ROOT})
        return
    for kind in kinds:
        numbers = range(getattr(sizes, kind))
        written = [photographs.write_image(folder, kind, number, _drawing(kind)) for number in numbers]
        photographs.save_rows(folder, kind, written)


def _drawing(kind: str) -> Any:
    """Return a function that draws small images with Pillow, for trying the benchmark out."""
    from PIL import Image

    def draw(number: int) -> tuple[bytes, int]:
        random = np.random.default_rng(number)
        size = (28, 28) if kind == "digits" else (48 + int(random.integers(32)), 64, 3)
        steps = random.integers(-3, 4, size).cumsum(axis=0)
        pixels = (steps.cumsum(axis=1) + 128).clip(0, 255).astype(np.uint8)
        file = io.BytesIO()
        options = {"progressive": True} if kind == "progressive" else {}
        Image.fromarray(pixels).save(file, "PNG" if kind in ("digits", "pngs") else "JPEG", **options)
        return file.getvalue(), int(random.integers(10))

    return draw


def _write_shard(folder: str, kind: str, shard: int, num_records: int) -> None:
    import recordmill as rm

    name = f"{kind}-{shard:05d}-of-{NUM_SHARDS:05d}.tfrecord"
    payload = "sequence_example" if kind == "sequence" else "raw" if kind == "big" else "example"
    path = os.path.join(folder, "tfrecord", name)
    with rm.ShardWriter(path, format="tfrecord", payload=payload, schema=_schema(kind), overwrite=True) as writer:
        for example in _examples(folder, kind, shard, num_records):
            writer.write(example)


def _schema(kind: str) -> Any:
    import recordmill as rm

    if kind == "tabular":
        names = [f"I{place + 1}" for place in range(13)] + [f"C{place + 1}" for place in range(26)]
        return rm.Schema({name: rm.Feature("float32" if name[0] == "I" else "int64", ()) for name in names})
    return None


def _examples(folder: str, kind: str, shard: int, num_records: int) -> Iterator[Any]:
    """Yield the examples of a shard."""
    if kind == "big":
        yield from recipes.opaque(shard, num_records)
    elif kind == "tabular":
        for columns in recipes.tabular(shard, num_records):
            values = zip(*(column.tolist() for column in columns.values()), strict=True)
            yield from (dict(zip(columns, row, strict=True)) for row in values)
    elif kind == "sequence":
        import recordmill as rm

        for tokens, label in recipes.sequences(shard, num_records):
            yield {"label": label, "tokens": rm.FeatureList(tokens.reshape(-1, 1))}
    else:
        for path, label in rows(folder, kind)[shard * num_records : (shard + 1) * num_records]:
            yield {"image": _image(path, kind), "label": label}


@lru_cache(maxsize=1)  # repeated files follow one another
def _image(path: str, kind: str) -> bytes:
    """Return the bytes of an image file, or its pixels as bytes."""
    if kind != "arrays":
        return Path(path).read_bytes()
    from PIL import Image

    with Image.open(path) as image:
        return image.tobytes()
