"""Steps of the demo that pack and use the image files. Each prints its progress and returns results for the report."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import recordmill as rm
from recordmill.demo.images import open_image, write_pairs
from recordmill.demo.train import LeNet, train_network

PrintLine = Callable[[str], object]
DATASETS = ("digits", "photos")


@dataclass(frozen=True, slots=True)
class DemoFormat:
    """Options of the demo for one format: title, file name prefix, number of shards, and feature names."""

    title: str
    prefix: str = "train"
    shards: int = 1
    image: str = "image"
    label: str = "label"


DEMO_FORMATS = {
    "tfrecord": DemoFormat("TFRecord", shards=4),
    "ofrecord": DemoFormat("OFRecord", "part", 5, "images", "labels"),
    "recordio": DemoFormat("MXNet RecordIO", shards=2),
}


def shard_folder(folder: Path, dataset: str, format_name: str) -> Path:
    """Return the path of the folder with the shards of a dataset in one format."""
    return folder / "shards" / dataset / format_name


def pack_images(folder: Path, print_line: PrintLine) -> dict[str, Any]:
    """Pack digits and photographs in every format."""
    images, packed = folder / "images", {}
    sources = {
        "digits": rm.LabelFile(images / "digits.txt", root=images / "digits"),
        "photos": rm.ImageFolder(images / "photos"),
    }
    for name, format_ in DEMO_FORMATS.items():
        for dataset, source in sources.items():
            start = time.perf_counter()
            target = shard_folder(folder, dataset, name) / format_.prefix
            result = rm.pack(source, target, format=name, shards=format_.shards, workers=2, progress=False)
            seconds = time.perf_counter() - start
            packed[f"{dataset}/{name}"] = result.to_json() | {"pack_seconds": round(seconds, 3)}
            print_line(
                f"{format_.title}: {result.num_records:,} {dataset} in {len(result.paths)} shards, "
                f"{result.num_bytes:,} bytes, {result.num_records / seconds:,.0f} records per second."
            )
    return {"packed": packed, "ok": all(not result["skipped"] for result in packed.values())}


def verify_shards(folder: Path, print_line: PrintLine) -> dict[str, Any]:
    """Verify the shards of every dataset in every format."""
    reports = {}
    for name, format_ in DEMO_FORMATS.items():
        report = rm.verify([shard_folder(folder, dataset, name) for dataset in DATASETS])
        reports[name] = report.to_json()
        faults = "no faults" if report.ok else f"{report.num_faults} FAULTS"
        print_line(f"{format_.title}: {report.num_records:,} records, {faults}; {report.guarantees[name][0]}.")
    return {"reports": reports, "ok": all(report["ok"] for report in reports.values())}


def print_features(folder: Path, print_line: PrintLine) -> dict[str, Any]:
    """Print the payload type, the number of records and the features that the shards of each format contain."""
    infos = {}
    for name, format_ in DEMO_FORMATS.items():
        info = rm.info(shard_folder(folder, "digits", name)).to_json()
        infos[name] = info
        features = ", ".join(f"{key} ({_describe_feature(feature)})" for key, feature in info["features"].items())
        print_line(f"{format_.title}: {info['num_records']:,} records with payload {info['payload']}: {features}.")
    return {"info": infos}


def _describe_feature(feature: dict[str, Any]) -> str:
    limits = feature["num_bytes"]
    return str(feature["kind"]) + ("" if limits is None else f", {limits[0]:,} to {limits[1]:,} bytes")


def compare_with_files(folder: Path, print_line: PrintLine) -> dict[str, Any]:
    """Read all shards, and compare every image and label with the image files."""
    results = {}
    for dataset in DATASETS:
        expected = _read_image_files(folder, dataset)
        for name, format_ in DEMO_FORMATS.items():
            start = time.perf_counter()
            examples = list(rm.open(shard_folder(folder, dataset, name)))
            seconds = time.perf_counter() - start
            actual = [(example[format_.image], int(np.asarray(example[format_.label]).item())) for example in examples]
            results[f"{dataset}/{name}"] = {"same": actual == expected, "read_seconds": round(seconds, 3)}
            verdict = "equal the files" if actual == expected else "DIFFER from the files"
            print_line(
                f"{format_.title}: {len(actual):,} {dataset} read in {seconds:.2f} s; images and labels {verdict}."
            )
    return {"sets": results, "ok": all(result["same"] for result in results.values())}


def _read_image_files(folder: Path, dataset: str) -> list[tuple[bytes, int]]:
    """Return the bytes and labels of the image files, in the order of packing."""
    images = folder / "images"
    if dataset == "digits":
        lines = (images / "digits.txt").read_text("utf-8").splitlines()
        labels = [pair for line in lines for pair in json.loads(line).items()]
        return [((images / "digits" / name).read_bytes(), label) for name, label in labels]
    classes = sorted(path.name for path in (images / "photos").iterdir())
    paths = [path for name in classes for path in sorted((images / "photos" / name).iterdir())]
    return [(path.read_bytes(), classes.index(path.parent.name)) for path in paths]


def train_on_all_formats(folder: Path, epochs: int, print_line: PrintLine) -> dict[str, Any]:
    """Train the same network on each format and compare the losses of every step."""
    print_line(
        "Loading Keras and JAX. Each network starts with the same weights and reads the records in the same order."
    )
    datasets = {name: rm.open(shard_folder(folder, "digits", name)) for name in DEMO_FORMATS}
    network = LeNet(open_image(datasets["tfrecord"][0]["image"]).width)
    curves, results = {}, {}
    for name, format_ in DEMO_FORMATS.items():
        start = time.perf_counter()
        curve = train_network(network, datasets[name], format_.image, format_.label, epochs=epochs)
        seconds = time.perf_counter() - start
        curves[name] = curve
        results[name] = {"epoch_losses": curve.epoch_losses, "accuracy": curve.accuracy, "losses": curve.losses}
        losses = " ".join(f"{loss:.3f}" for loss in curve.epoch_losses)
        print_line(
            f"{format_.title}: LeNet on {curve.num_trained:,} digits, {epochs} epochs in {seconds:.1f} s; "
            f"loss {losses}; accuracy {curve.accuracy:.1%} on {curve.num_held_out} other digits."
        )
    equal = len({tuple(curve.losses) for curve in curves.values()}) == 1
    falling = all(curve.has_lower_final_loss for curve in curves.values())
    equality, trend = "are equal in every step" if equal else "DIFFER", "fall" if falling else "DO NOT FALL"
    print_line(f"The three loss curves {equality}, and {trend}.")
    return {"curves": results, "equal": equal, "falling": falling, "ok": equal and falling}


def pack_and_compare_pairs(folder: Path, num_scenes: int, print_line: PrintLine) -> dict[str, Any]:
    """Pack images with masks in every format, read them back, and compare every class index of the masks."""
    voc = folder / "images" / "voc"
    expected = write_pairs(voc, num_scenes)
    classes = sorted({int(index) for indices in expected.values() for index in np.unique(indices)})
    print_line(
        f"Wrote {len(expected)} images with palette PNG masks in the layout of Pascal VOC: scenes of digits, where the "
        f"class is the digit + 1, and photographs segmented by brightness; {len(classes)} class indices from 0 to "
        f"{classes[-1]}."
    )
    results = {}
    for name, format_ in DEMO_FORMATS.items():
        target = shard_folder(folder, "pairs", name) / format_.prefix
        # MXNet's image record can store only one image. Store both images of a pair in an `example` payload.
        payload = "example" if name == "recordio" else None
        rm.pack(rm.ImagePairs.voc(voc), target, format=name, shards=2, payload=payload, progress=False)
        masks = [np.asarray(open_image(example[format_.label])) for example in rm.open(target.parent)]
        same = len(masks) == len(expected) and all(map(np.array_equal, masks, expected.values()))
        num_pixels = sum(mask.size for mask in masks)
        results[name] = {"same": same, "num_pixels": num_pixels}
        verdict = "all class indices are equal" if same else "class indices DIFFER"
        print_line(f"{format_.title}: {num_pixels:,} pixels of {len(masks)} masks read back; {verdict}.")
    return {
        "pairs": results,
        "num_pairs": len(expected),
        "indices": classes,
        "ok": all(result["same"] for result in results.values()),
    }
