"""Face images from a `.rec` in the layout of InsightFace's data sets: batches for training, and who is who.

    python faces_from_rec.py FOLDER [--batch-size 32] [--seed 0]

FOLDER holds train.rec and train.idx, and property if there is one. The program tells what is inside, makes one epoch
of training batches, and then identifies half of the images by the mean face of the other half.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

import recordmill as rm
import recordmill.compat.mxnet as mx


class Faces:
    """The images of a face data set by position, with their identities."""

    def __init__(self, folder: Path) -> None:
        self.record = mx.recordio.MXIndexedRecordIO(folder / "train.idx", folder / "train.rec", "r")
        header, data = mx.recordio.unpack(self.record.read_idx(0))
        has_header_record = header.flag > 0 and not data
        self.keys = list(range(1, int(header.label[0]))) if has_header_record else sorted(set(self.record.keys))
        headers = [mx.recordio.unpack(self.record.read_idx(key))[0] for key in self.keys]
        # The identity is the label, or the first of several.
        self.identities = np.array([int(np.ravel(header.label)[0]) for header in headers])

    def __len__(self) -> int:
        """Return the number of images."""
        return len(self.keys)

    def fetch(self, positions: Sequence[int]) -> list[bytes]:
        """Return encoded images."""
        return [mx.recordio.unpack(self.record.read_idx(self.keys[position]))[1] for position in positions]


def batches(faces: Faces, batch_size: int, seed: int, epoch: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield images (n, 3, height, width) of float32 from -1 to 1, every other one mirrored, and identities."""
    order = np.random.default_rng((seed, epoch)).permutation(len(faces))
    spec = rm.Image(like="mxnet", flip=True, mean=0.5, std=0.5)
    for start in range(0, len(order), batch_size):
        rows = order[start : start + batch_size]
        places = range(start, start + len(rows))
        made = rm.decode_batch(faces.fetch(rows), {"face": spec}, rng=seed, epoch=epoch, positions=places, threads=2)
        yield made["face"], faces.identities[rows]


def identify(faces: Faces) -> tuple[int, int]:
    """Return how many images were given to the right person, and of how many: the nearest mean face decides."""
    spec = rm.Image(like="mxnet", channels="gray", dtype="float32")
    pixels = rm.decode_batch(faces.fetch(range(len(faces))), {"face": spec})["face"].reshape(len(faces), -1)
    pixels -= pixels.mean(axis=1, keepdims=True)
    pixels /= np.linalg.norm(pixels, axis=1, keepdims=True) + 1e-6
    people = np.unique(faces.identities)
    known = np.zeros(len(faces), bool)
    for person in people:
        mine = np.flatnonzero(faces.identities == person)
        known[mine[: (len(mine) + 1) // 2]] = True
    means = np.stack([pixels[known & (faces.identities == person)].mean(axis=0) for person in people])
    nearest = people[np.argmax(pixels[~known] @ means.T, axis=1)]
    return int((nearest == faces.identities[~known]).sum()), int((~known).sum())


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the program."""
    parser = argparse.ArgumentParser(description="Face images from a .rec: batches, and who is who.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(arguments)
    faces = Faces(options.folder)
    print(f"{len(faces)} images of {len(set(faces.identities.tolist()))} people")
    shapes = [images.shape for images, _ in batches(faces, options.batch_size, options.seed, epoch=0)]
    print(f"{len(shapes)} batches, the first of shape {shapes[0]}")
    right, asked = identify(faces)
    print(f"{right} of {asked} identified by the nearest mean face")


if __name__ == "__main__":
    main()
