"""Images of squares in eight classes, stored in each format family, and pipelines that load them."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
from PIL import Image

import recordmill as rm

FAMILIES = ("tfrecord", "ofrecord", "recordio")
NUM_SAMPLES = 90
NUM_CLASSES = 8
BATCH = 16
NUM_BATCHES = 5  # the last one is dropped


def encode_square(number: int) -> bytes:
    """Encode a noisy 8 × 8 square; the row of a bright stripe is its class."""
    pixels = np.random.default_rng(number).integers(0, 60, (8, 8)).astype(np.uint8)
    pixels[number % NUM_CLASSES] += 150
    out = io.BytesIO()
    Image.fromarray(pixels).save(out, "PNG")
    return out.getvalue()


def write_shards(folder: Path) -> Path:
    """Write the squares in each family, into a folder of its name."""
    for family in FAMILIES:
        with rm.ShardWriter(folder / family / "train", format=family, shards=3) as writer:
            for number in range(NUM_SAMPLES):
                writer.write({"image": encode_square(number), "label": number % NUM_CLASSES})
    return folder


def samples(folder: Path, family: str, layout: str = "chw") -> rm.Dataset:
    """Open the squares of a family as shuffled and decoded samples with random flips."""
    image = rm.Image(channels="gray", flip=True, dtype="float32", layout=layout)
    return rm.open(folder / family).shuffle(seed=5).decode(image=image)


def batches(folder: Path, family: str, layout: str = "chw") -> rm.Dataset:
    """Open the squares of a family as batches of one size."""
    return samples(folder, family, layout).batch(BATCH, last="drop")
