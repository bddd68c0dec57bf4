"""LeNet trained from OFRecord parts: digits are packed, read back by OneFlow's names, and learned with Keras on JAX.

    python examples/lenet_from_ofrecord.py [FOLDER] [STEPS]

The digits are scikit-learn's 1,797 scans of 8 x 8 pixels. The import of `flow` is the only line that differs from a
program for OneFlow that trains with arrays. Needs ``recordmill[all]`` and scikit-learn.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from pathlib import Path

os.environ.setdefault("KERAS_BACKEND", "jax")
os.environ.setdefault("JAX_PLATFORMS", "cpu")

import numpy as np

import recordmill.compat.oneflow as flow
from recordmill.compat.oneflow import img2ofrecord

PARTS = 5
BATCH = 64
HELD_OUT = 297


def write_digits(folder: Path) -> int:
    """Write each digit as a PNG file, and the label files of both sets; return the number to learn from."""
    from PIL import Image
    from sklearn.datasets import load_digits

    digits = load_digits()
    pixels = (digits.images * 15.9375).astype(np.uint8)
    lines = []
    (folder / "images").mkdir(parents=True)
    for number, (picture, label) in enumerate(zip(pixels, digits.target, strict=True)):
        name = f"{number:08d}_{label}.png"
        Image.fromarray(picture).save(folder / "images" / name)
        lines.append(json.dumps({name: int(label)}) + "\n")
    split = len(lines) - HELD_OUT
    (folder / "train.txt").write_text("".join(lines[:split]))
    (folder / "test.txt").write_text("".join(lines[split:]))
    return split


def pack(folder: Path, which: str, parts: int) -> None:
    """Make OFRecord parts of the images that a label file names."""
    arguments = {
        "image_root": folder / "images",
        "part_num": parts,
        "label_dir": folder / f"{which}.txt",
        "img_format": ".png",
        "save_dir": folder / which,
    }
    if img2ofrecord.main([f"--{name}={value}" for name, value in arguments.items()]):
        sys.exit("packing failed")


class Digits(flow.nn.Module):
    """Batches of pixels (n, 1, 28, 28) from 0 to 1, and labels (n,)."""

    def __init__(self, folder: Path, parts: int, batch: int, *, shuffle: bool) -> None:
        self.read = flow.nn.OFRecordReader(
            str(folder),
            batch_size=batch,
            data_part_num=parts,
            random_shuffle=shuffle,
            shuffle_after_epoch=shuffle,
            random_seed=1,
        )
        self.decode = flow.nn.OFRecordImageDecoder("images", color_space="GRAY")
        self.label = flow.nn.OFRecordRawDecoder("labels", shape=(), dtype=flow.int32)
        self.resize = flow.nn.image.Resize(target_size=(28, 28), channels=1)
        self.normalize = flow.nn.CropMirrorNormalize(color_space="GRAY", mean=[0.0], std=[255.0])

    def forward(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the next batch."""
        records = self.read()
        images, _, _ = self.resize(self.decode(records))
        return self.normalize(images).numpy(), self.label(records).numpy()


def make_lenet():
    """Return LeNet-5 in today's form, channels last as Keras likes them."""
    import keras

    keras.utils.set_random_seed(1)
    layers = keras.layers
    model = keras.Sequential(
        [
            keras.Input((28, 28, 1)),
            layers.Conv2D(6, 5, activation="relu", padding="same"),
            layers.MaxPooling2D(),
            layers.Conv2D(16, 5, activation="relu"),
            layers.MaxPooling2D(),
            layers.Flatten(),
            layers.Dense(120, activation="relu"),
            layers.Dense(84, activation="relu"),
            layers.Dense(10),
        ]
    )
    model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"])
    return model


def main(folder: Path, steps: int) -> None:
    """Pack, train, and tell how many of the digits held out were recognized."""
    write_digits(folder)
    pack(folder, "train", PARTS)
    pack(folder, "test", 1)

    model = make_lenet()
    batches = Digits(folder / "train", PARTS, BATCH, shuffle=True)
    for step in range(steps):
        pixels, labels = batches()
        loss, _ = model.train_on_batch(pixels.transpose(0, 2, 3, 1), labels)
        if step % 20 == 0:
            print(f"step {step}: loss {float(loss):.4f}")
            model.reset_metrics()

    pixels, labels = Digits(folder / "test", 1, HELD_OUT, shuffle=False)()
    found = model.predict_on_batch(pixels.transpose(0, 2, 3, 1)).argmax(axis=1)
    print(f"{(found == labels).mean():.1%} of {len(labels)} digits held out were recognized")


if __name__ == "__main__":
    where = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(tempfile.mkdtemp(prefix="lenet-"))
    main(where, int(sys.argv[2]) if len(sys.argv) > 2 else 120)
