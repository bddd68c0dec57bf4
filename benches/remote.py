"""Measure remote shards beside local ones, plain obstore, MosaicML Streaming and LitData; check that results are equal.

The server runs on this machine, so client and server share its cores. Each row is a median of runs in turns.

Usage: python -m benches.remote [--folder FOLDER] [--photos N] [--megabytes N] [--no-peers]
       [--rounds N] [--latency-ms N]
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from benches import environments
from benches.object_server import ObjectServer

_PHOTO_BYTES = 110_000
# Sizes of the requests of a loader: of records in order, and of the blocks that `shuffle` reads by default.
_REQUEST_BYTES = {"in order": 8 << 20, "shuffled blocks": 7 << 20}
_BATCH, _EPOCHS = 64, 3
_SIZE = 224
_PEER_REQUIREMENTS = ("mosaicml-streaming", "litdata", "torchvision", "pillow")
_ENVIRONMENT = {"AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "secret", "AWS_REGION": "us-east-1"}


def _write_photos(folder: Path, count: int) -> None:
    """Write JPEG files of smooth noise, about as large as those of ImageNet."""
    from PIL import Image

    random = np.random.default_rng(0)
    for number in range(count):
        path = folder / f"{number % 10}" / f"{number:06}.jpg"
        path.parent.mkdir(parents=True, exist_ok=True)
        small = random.integers(0, 256, (120, 160, 3), np.uint8)
        image = Image.fromarray(small).resize((500, 375), Image.Resampling.BICUBIC)
        image.save(path, quality=92)


def _measure_in_turns(works: dict[str, Callable[[], Any]], rounds: int) -> tuple[dict[str, float], dict[str, Any]]:
    """Run each work several times; return the medians of the seconds, and the last results."""
    times: dict[str, list[float]] = {name: [] for name in works}
    results: dict[str, Any] = {}
    for _ in range(rounds):
        for name, work in works.items():
            started = time.perf_counter()
            results[name] = work()
            times[name].append(time.perf_counter() - started)
    return {name: median(values) for name, values in times.items()}, results


def measure_bytes(root: Path, megabytes: int, rounds: int) -> None:
    """Compare records in order and in shuffled blocks with plain obstore, which requests the same ranges."""
    import recordmill as rm

    count = megabytes * 1_000_000 // _PHOTO_BYTES
    with rm.ShardWriter(root / "store/bytes/train", shards=8) as writer:
        for number in range(count):
            writer.write({"data": os.urandom(_PHOTO_BYTES), "id": number})
    num_bytes = sum(path.stat().st_size for path in (root / "store/bytes").glob("train-*"))

    def read(*, shuffled: bool) -> list[list[int]]:
        """Return the numbers of the records of each epoch."""
        dataset = rm.open("s3://bytes/train")
        if shuffled:
            dataset = dataset.shuffle(seed=1)
            assert dataset.stages[0].block is not None
        loader = dataset.batch(_BATCH).loader()
        return [[number for batch in loader for number in batch["id"].tolist()] for _ in range(_EPOCHS)]

    works: dict[str, Callable[[], Any]] = {"in order": partial(read, shuffled=False)}
    works["shuffled blocks"] = partial(read, shuffled=True)
    # obstore runs in a process of its own, because recordmill changes how a process allocates memory.
    with ObjectServer(root / "store") as server, get_context("spawn").Pool(1) as pool:
        os.environ["AWS_ENDPOINT_URL"] = server.url
        for name in list(works):
            works[f"obstore {name}"] = partial(pool.apply, _read_with_obstore, (server.url, _REQUEST_BYTES[name]))
        seconds, results = _measure_in_turns(works, rounds)
    assert results["obstore in order"] == results["obstore shuffled blocks"] == num_bytes * _EPOCHS
    local = rm.open(root / "store/bytes/train").batch(_BATCH)
    assert results["in order"] == [[number for batch in local for number in batch["id"].tolist()]] * _EPOCHS
    assert all(sorted(epoch) == list(range(count)) for epoch in results["shuffled blocks"])
    for name in ("in order", "shuffled blocks"):
        ours, theirs = (num_bytes * _EPOCHS / seconds[work] / 1e6 for work in (name, f"obstore {name}"))
        print(f"records {name}: {ours:,.0f} MB/s, obstore {theirs:,.0f} MB/s: {ours / theirs:.2f} x", flush=True)


def _read_with_obstore(url: str, request_bytes: int) -> int:
    """Request all shards in ranges with 32 threads, as often as there are epochs; return the number of bytes."""
    import obstore
    from obstore.store import from_url

    store = from_url("s3://bytes", endpoint=url, client_options={"allow_http": True})
    objects = [entry for entry in obstore.list(store).collect() if not entry["path"].startswith(".")]
    ranges = [
        (entry["path"], start, min(start + request_bytes, entry["size"]))
        for entry in objects
        for start in range(0, entry["size"], request_bytes)
    ]

    def request(path: str, start: int, stop: int) -> int:
        return len(obstore.get_range(store, path, start=start, end=stop))

    with ThreadPoolExecutor(32) as pool:
        return sum(pool.map(request, *zip(*ranges * _EPOCHS, strict=True)))


def measure_photos(root: Path, photos: int, rounds: int, latency_ms: float, *, with_peers: bool) -> None:
    """Compare decoded photos from the server with local ones and with the peers, without and with a cache."""
    import recordmill as rm

    _write_photos(root / "photos", photos)
    rm.pack(root / "photos", root / "store/photos/train", shards=8)
    image = rm.Image(crop=rm.RandomResizedCrop(_SIZE))
    caches = iter(str(root / f"cache-{number}") for number in range(1000))

    def run(paths: str, epochs: int, **options: Any) -> list[float]:
        """Return the images per second of each epoch."""
        dataset = rm.open(paths, **options).shuffle(seed=1).decode(image=image).batch(_BATCH)
        return list(_measure_epochs(dataset.loader(), epochs, photos))

    def run_remote() -> list[float]:
        cache = next(caches)
        first, second = run("s3://photos/train", 2, cache_dir=cache)
        dataset = rm.open("s3://photos/train", cache_dir=cache)
        loader = dataset.shuffle(seed=1).batch(_BATCH).loader()
        for _ in loader:
            pass
        assert loader.stats().traffic.num_bytes == 0
        shutil.rmtree(cache)
        return [first, second]

    with ObjectServer(root / "store", latency_ms=latency_ms) as server:
        os.environ["AWS_ENDPOINT_URL"] = server.url
        works: dict[str, Callable[[], Any]] = {
            "local": lambda: run(str(root / "store/photos/train"), 2),
            "without cache": lambda: run("s3://photos/train", 1),
            "with cache": run_remote,
        }
        if with_peers:
            python = environments.interpreter("remote-peers", _PEER_REQUIREMENTS)
            _run_peer(python, "write", str(root))
            for name, peer in {"MosaicML Streaming": "streaming", "LitData": "litdata"}.items():
                works[name] = partial(_run_peer, python, peer, server.url, str(root / "peer-cache"))
        rates: dict[str, list[list[float]]] = {name: [] for name in works}
        for _ in range(rounds):
            for name, work in works.items():
                rates[name].append(work())
    medians = {name: [median(values) for values in zip(*runs, strict=True)] for name, runs in rates.items()}
    for name, values in medians.items():
        epochs = enumerate(zip(values, medians["local"], strict=False), 1)
        text = ", ".join(f"epoch {epoch} {rate:,.0f}/s ({rate / local:.2f} x local)" for epoch, (rate, local) in epochs)
        print(f"photos, {latency_ms:.0f} ms, {name}: {text}", flush=True)


def _measure_epochs(loader: Any, epochs: int, photos: int) -> Iterator[float]:
    for _ in range(epochs):
        started = time.perf_counter()
        num_images = sum(len(batch["label"]) for batch in loader)
        assert num_images == photos
        yield photos / (time.perf_counter() - started)


def measure_faults(root: Path, photos: int, rounds: int, latency_ms: float) -> None:
    """Compare an epoch through a proxy that injects faults with one through the same proxy without faults."""
    import recordmill as rm
    from tests.remote.fault_proxy import FaultProxy, Faults

    latency = latency_ms / 1000
    kinds = {
        "no faults": Faults(latency=latency),
        "faults": Faults(
            latency=latency, error_rate=0.01, slow_rate=0.01, reset_rate=0.005, truncate_rate=0.005, short_rate=0.005
        ),
    }
    waits = []

    def run(faults: Faults) -> int:
        proxy.faults = faults
        dataset = rm.open("s3://photos/train").shuffle(seed=1, block=8)
        dataset = dataset.decode(image=rm.Image(crop=rm.RandomResizedCrop(_SIZE))).batch(_BATCH)
        labels, started = 0, time.perf_counter()
        for batch in dataset.loader():
            waits.append(time.perf_counter() - started)
            labels += len(batch["label"])
            started = time.perf_counter()
        return labels

    with ObjectServer(root / "store") as server, FaultProxy(server.url, kinds["no faults"]) as proxy:
        os.environ["AWS_ENDPOINT_URL"] = proxy.url
        works = {name: (lambda faults=faults: run(faults)) for name, faults in kinds.items()}
        seconds, results = _measure_in_turns(works, rounds)
    assert set(results.values()) == {photos}
    ratio = seconds["no faults"] / seconds["faults"]
    print(f"photos through the fault proxy: {ratio:.2f} x without faults; longest wait {max(waits):.1f} s", flush=True)


def _run_peer(python: str, *arguments: str) -> Any:
    command = [python, "-m", "benches.remote", "--peer", *arguments]
    output = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    return json.loads(output.splitlines()[-1])


def run_peer(name: str, *arguments: str) -> Any:
    """Write the photos in the formats of the peers, or measure two epochs of one of them."""
    if name == "write":
        return _write_peer_formats(Path(arguments[0]))
    url, cache = arguments
    shutil.rmtree(cache, ignore_errors=True)
    os.environ |= {"AWS_ENDPOINT_URL": url, "S3_ENDPOINT_URL": url, "AWS_ALLOW_HTTP": "true"}
    from torch.utils.data import DataLoader

    dataset = _open_with_streaming(cache) if name == "streaming" else _open_with_litdata(url, cache)
    loader: Any
    if name == "streaming":
        loader = DataLoader(dataset, batch_size=_BATCH, num_workers=2)
    else:
        from litdata import StreamingDataLoader

        loader = StreamingDataLoader(dataset, batch_size=_BATCH, num_workers=2)
    rates = []
    for _ in range(2):
        started = time.perf_counter()
        num_images = sum(len(labels) for _, labels in loader)
        rates.append(num_images / (time.perf_counter() - started))
    assert num_images == len(dataset)
    shutil.rmtree(cache, ignore_errors=True)
    return rates


def _write_peer_formats(root: Path) -> int:
    from litdata import optimize
    from streaming import MDSWriter

    paths = sorted((root / "photos").rglob("*.jpg"))
    with MDSWriter(out=str(root / "store/mds"), columns={"image": "bytes", "label": "int"}) as writer:
        for path in paths:
            writer.write({"image": path.read_bytes(), "label": int(path.parent.name)})
    inputs = [str(path) for path in paths]
    optimize(fn=_read_photo, inputs=inputs, output_dir=str(root / "store/litdata"), chunk_bytes="64MB", num_workers=1)
    return len(paths)


def _read_photo(path: str) -> dict[str, Any]:
    return {"image": Path(path).read_bytes(), "label": int(Path(path).parent.name)}


class _Decode:
    """Decodes a photo, and crops it at random, as the examples of the peers do."""

    def __init__(self) -> None:
        from torchvision import transforms

        crop = transforms.RandomResizedCrop(_SIZE)
        self.transform = transforms.Compose([crop, transforms.RandomHorizontalFlip(), transforms.PILToTensor()])

    def __call__(self, sample: dict[str, Any]) -> Any:
        import io

        from PIL import Image

        return self.transform(Image.open(io.BytesIO(sample["image"])).convert("RGB")), sample["label"]


def _open_with_streaming(cache: str) -> Any:
    from streaming import StreamingDataset

    class Photos(StreamingDataset):
        decode = _Decode()

        def __getitem__(self, index: int) -> Any:
            return self.decode(super().__getitem__(index))

    return Photos(remote="s3://mds", local=cache, shuffle=True, batch_size=_BATCH)


def _open_with_litdata(url: str, cache: str) -> Any:
    from litdata import StreamingDataset
    from litdata.streaming import downloader

    # LitData has no option for a server without TLS.
    downloader._OBSTORE_CLIENT_OPTIONS["allow_http"] = True

    class Photos(StreamingDataset):
        decode = _Decode()

        def __getitem__(self, index: Any) -> Any:
            return self.decode(super().__getitem__(index))

    options = {"endpoint_url": url}
    return Photos("s3://litdata", cache_dir=cache, shuffle=True, storage_options=options)


def main(arguments: list[str]) -> None:
    """Print the rates and ratios."""
    if arguments[:1] == ["--peer"]:
        print(json.dumps(run_peer(*arguments[1:])))
        return
    parser = argparse.ArgumentParser(prog="python -m benches.remote", description=__doc__)
    parser.add_argument("--folder", help="folder for the data (default: a temporary one)")
    parser.add_argument("--photos", type=int, default=3000)
    parser.add_argument("--megabytes", type=int, default=4000)
    parser.add_argument("--no-peers", action="store_true", help="omit MosaicML Streaming and LitData")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--latency-ms", type=float, default=30)
    options = parser.parse_args(arguments)
    os.environ |= _ENVIRONMENT
    with tempfile.TemporaryDirectory(dir=options.folder) as name:
        root = Path(name)
        measure_bytes(root, options.megabytes, options.rounds)
        measure_photos(root, options.photos, options.rounds, options.latency_ms, with_peers=not options.no_peers)
        measure_faults(root, options.photos, options.rounds, options.latency_ms)


if __name__ == "__main__":
    main(sys.argv[1:])
