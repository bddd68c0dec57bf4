"""The steps of the demo between image files and the picture; each says what it does and returns its figures."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import recordmill as rm
from recordmill.demo.masks import write_pairs
from recordmill.demo.sheet import opened
from recordmill.demo.train import LeNet, train

Say = Callable[[str], object]
SETS = ("digits", "photos")


@dataclass(frozen=True, slots=True)
class Family:
    """One format as the demo uses it.

    Parameters
    ----------
    title : str
    name : str
        Beginning of the shards' names.
    shards : int
    image, label : str
        Names of the features.
    """

    title: str
    name: str = "train"
    shards: int = 1
    image: str = "image"
    label: str = "label"


FAMILIES = {
    "tfrecord": Family("TFRecord", shards=4),
    "ofrecord": Family("OFRecord", "part", 5, "images", "labels"),
    "recordio": Family("MXNet RecordIO", shards=2),
}


def shards_of(folder: Path, what: str, name: str) -> Path:
    """Folder of the shards of one set in one format."""
    return folder / "shards" / what / name


def pack(folder: Path, say: Say) -> dict[str, Any]:
    """Pack digits and photographs in every format."""
    images, found = folder / "images", {}
    sources = {
        "digits": rm.LabelFile(images / "digits.txt", root=images / "digits"),
        "photos": rm.ImageFolder(images / "photos"),
    }
    for name, family in FAMILIES.items():
        for what, source in sources.items():
            begun = time.perf_counter()
            target = shards_of(folder, what, name) / family.name
            done = rm.pack(source, target, format=name, shards=family.shards, workers=2, progress=False)
            seconds = time.perf_counter() - begun
            found[f"{what}/{name}"] = done.to_json() | {"pack_seconds": round(seconds, 3)}
            say(
                f"{family.title}: {done.num_records:,} {what} in {len(done.paths)} shards, "
                f"{done.num_bytes:,} bytes, {done.num_records / seconds:,.0f} records per second."
            )
    return {"packed": found, "ok": all(not one["skipped"] for one in found.values())}


def check(folder: Path, say: Say) -> dict[str, Any]:
    """Verify every shard."""
    found = {}
    for name, family in FAMILIES.items():
        report = rm.verify([shards_of(folder, what, name) for what in SETS])
        found[name] = report.to_json()
        faults = "no faults" if report.ok else f"{report.num_faults} FAULTS"
        say(f"{family.title}: {report.num_records:,} records, {faults}; {report.guarantees[name][0]}.")
    return {"reports": found, "ok": all(one["ok"] for one in found.values())}


def show_info(folder: Path, say: Say) -> dict[str, Any]:
    """Tell what is inside, from the files alone."""
    found = {}
    for name, family in FAMILIES.items():
        plain = rm.info(shards_of(folder, "digits", name)).to_json()
        found[name] = plain
        features = [f"{key} ({_words(feature)})" for key, feature in plain["features"].items()]
        say(f"{family.title}: {plain['num_records']:,} records of payload {plain['payload']}: {', '.join(features)}.")
    return {"info": found}


def _words(feature: dict[str, Any]) -> str:
    limits = feature["num_bytes"]
    return str(feature["kind"]) + ("" if limits is None else f", {limits[0]:,} to {limits[1]:,} long")


def read_back(folder: Path, say: Say) -> dict[str, Any]:
    """Compare every image and label with the files."""
    found = {}
    for what in SETS:
        expected = _files(folder, what)
        for name, family in FAMILIES.items():
            begun = time.perf_counter()
            examples = list(rm.open(shards_of(folder, what, name)))
            seconds = time.perf_counter() - begun
            read = [(example[family.image], int(np.asarray(example[family.label]).item())) for example in examples]
            found[f"{what}/{name}"] = {"same": read == expected, "read_seconds": round(seconds, 3)}
            verdict = "are the bytes of the files" if read == expected else "DIFFER from the files"
            say(f"{family.title}: {len(read):,} {what} read in {seconds:.2f} s; images and labels {verdict}.")
    return {"sets": found, "ok": all(one["same"] for one in found.values())}


def _files(folder: Path, what: str) -> list[tuple[bytes, int]]:
    """Content and label of the image files, in the order of packing."""
    images = folder / "images"
    if what == "digits":
        lines = (images / "digits.txt").read_text("utf-8").splitlines()
        listed = [pair for line in lines for pair in json.loads(line).items()]
        return [((images / "digits" / name).read_bytes(), label) for name, label in listed]
    classes = sorted(path.name for path in (images / "photos").iterdir())
    paths = [path for name in classes for path in sorted((images / "photos" / name).iterdir())]
    return [(path.read_bytes(), classes.index(path.parent.name)) for path in paths]


def train_all(folder: Path, epochs: int, say: Say) -> dict[str, Any]:
    """Train the same network on each format and compare the losses of every step."""
    say(
        "Getting Keras and JAX ready; each network begins with the same weights and sees the records in the same order."
    )
    datasets = {name: rm.open(shards_of(folder, "digits", name)) for name in FAMILIES}
    first = next(iter(datasets.values()))
    network = LeNet(opened(first[0]["image"]).width)
    curves, found = {}, {}
    for name, family in FAMILIES.items():
        begun = time.perf_counter()
        curve = train(network, datasets[name], family.image, family.label, epochs=epochs)
        curves[name] = curve
        found[name] = {"epoch_losses": curve.epoch_losses, "accuracy": curve.accuracy, "losses": curve.losses}
        losses = " ".join(f"{loss:.3f}" for loss in curve.epoch_losses)
        seconds = time.perf_counter() - begun
        say(
            f"{family.title}: LeNet on {curve.num_trained:,} digits, {epochs} epochs in {seconds:.1f} s; "
            f"loss {losses}; {curve.accuracy:.1%} of {curve.num_held_out} others recognized."
        )
    equal = len({tuple(curve.losses) for curve in curves.values()}) == 1
    falls = all(curve.falls for curve in curves.values())
    same, down = "are equal in every step" if equal else "DIFFER", "fall" if falls else "DO NOT FALL"
    say(f"The three loss curves {same}, and {down}.")
    return {"curves": found, "equal": equal, "falling": falls, "ok": equal and falls}


def pack_pairs(folder: Path, num_scenes: int, say: Say) -> dict[str, Any]:
    """Pack images with masks, and compare every class index."""
    voc = folder / "images" / "voc"
    written = write_pairs(voc, num_scenes)
    classes = sorted({int(index) for indices in written.values() for index in np.unique(indices)})
    say(
        f"Wrote {len(written)} images with palette PNG masks in the layout of Pascal VOC: scenes of digits, where the "
        f"class is the digit + 1, and photographs cut by brightness; {len(classes)} indices from 0 to {classes[-1]}."
    )
    found = {}
    for name, family in FAMILIES.items():
        target = shards_of(folder, "pairs", name) / family.name
        # An image record of MXNet has room for one image: two go into an Example.
        payload = "example" if name == "recordio" else None
        rm.pack(rm.ImagePairs.voc(voc), target, format=name, shards=2, payload=payload, progress=False)
        masks = [np.asarray(opened(example[family.label])) for example in rm.open(target.parent)]
        same = len(masks) == len(written) and all(map(np.array_equal, masks, written.values()))
        num_pixels = sum(mask.size for mask in masks)
        found[name] = {"same": same, "num_pixels": num_pixels}
        verdict = "all" if same else "NOT all"
        say(f"{family.title}: {num_pixels:,} pixels of {len(masks)} masks read back, {verdict} with their index.")
    return {
        "pairs": found,
        "num_pairs": len(written),
        "indices": classes,
        "ok": all(one["same"] for one in found.values()),
    }
