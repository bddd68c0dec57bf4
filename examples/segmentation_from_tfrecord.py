"""Segmentation from TFRecord: pictures and palette masks are packed, checked to the index, and learned with Keras.

    python examples/segmentation_from_tfrecord.py [FOLDER] [EPOCHS]

The pictures are tiles of scikit-image's coins and scikit-learn's flower, laid out as Pascal VOC is: JPEG pictures, PNG
masks whose palette indices are the classes, and 255 around each object, which counts for nothing. Needs
``recordmill[all]``, scikit-learn and scikit-image.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

os.environ.setdefault("KERAS_BACKEND", "jax")
os.environ.setdefault("JAX_PLATFORMS", "cpu")

import numpy as np

import recordmill as rm

CLASSES = ("background", "coin", "flower")
VOID = 255
TILE = 64
CROP = 48
BATCH = 16


def palette() -> list[int]:
    """Return VOC's colors: the bits of an index, three at a time, are the high bits of red, green and blue."""
    colors = np.zeros((256, 3), int)
    index = np.arange(256)
    for place in range(8):
        for channel in range(3):
            colors[:, channel] |= ((index >> (3 * place + channel)) & 1) << (7 - place)
    return colors.ravel().tolist()


def scenes() -> list[tuple[np.ndarray, np.ndarray]]:
    """Return pictures (height, width, 3) and the classes of their pixels (height, width)."""
    from scipy import ndimage
    from skimage import data, filters
    from sklearn.datasets import load_sample_image

    def classes(inside: np.ndarray, label: int) -> np.ndarray:
        inside = ndimage.binary_opening(ndimage.binary_fill_holes(inside), iterations=2)
        border = ndimage.binary_dilation(inside) ^ ndimage.binary_erosion(inside)
        return np.where(border, VOID, np.where(inside, label, 0)).astype(np.uint8)

    coins, flower = data.coins(), load_sample_image("flower.jpg")
    light = coins - filters.gaussian(coins, 40, preserve_range=True)
    redness = flower[..., 0].astype(int) - flower[..., 1]
    return [
        (np.stack([coins] * 3, axis=-1), classes(light > filters.threshold_otsu(light), 1)),
        (flower, classes(redness > filters.threshold_otsu(redness), 2)),
    ]


def write_voc(root: Path) -> dict[str, np.ndarray]:
    """Write the tiles as VOC has them, every fourth for validation; return the mask of each."""
    from PIL import Image

    masks: dict[str, np.ndarray] = {}
    names: dict[str, list[str]] = {"train": [], "val": []}
    for place in ("JPEGImages", "SegmentationClass", "ImageSets/Segmentation"):
        (root / place).mkdir(parents=True)
    for number, (picture, classes) in enumerate(scenes()):
        for top in range(0, picture.shape[0] - TILE + 1, TILE):
            for left in range(0, picture.shape[1] - TILE + 1, TILE):
                name = f"scene{number}_{top:03}_{left:03}"
                window = np.s_[top : top + TILE, left : left + TILE]
                Image.fromarray(picture[window]).save(root / "JPEGImages" / f"{name}.jpg", quality=95)
                mask = Image.fromarray(classes[window])
                mask.putpalette(palette())
                mask.save(root / "SegmentationClass" / f"{name}.png")
                names["val" if len(masks) % 4 == 3 else "train"].append(name)
                masks[name] = classes[window]
    for which, chosen in names.items():
        (root / "ImageSets" / "Segmentation" / f"{which}.txt").write_text("\n".join(chosen) + "\n")
    return masks


def check_masks(folder: Path, which: str, masks: dict[str, np.ndarray]) -> int:
    """Compare each packed mask with the one that was drawn; return how many there are."""
    names = (folder / "VOC" / "ImageSets" / "Segmentation" / f"{which}.txt").read_text().split()
    pairs = rm.open(str(folder / f"{which}-*"))
    for name, example in zip(names, pairs, strict=True):
        assert np.array_equal(rm.decode_png(example["label"], palette="indices"), masks[name]), name
    return len(pairs)


def inputs(batch: dict[str, np.ndarray]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return pictures, classes and weights of the pixels: what is void weighs nothing."""
    void = batch["label"] == VOID
    return batch["image"], np.where(void, 0, batch["label"]), (~void).astype(np.float32)


def make_network():
    """Return a small network that looks at halves of the resolution on its way."""
    import keras

    keras.utils.set_random_seed(1)
    layers = keras.layers
    pixels = keras.Input((None, None, 3))
    fine = layers.Conv2D(12, 5, padding="same", activation="relu")(pixels)
    coarse = layers.Conv2D(24, 3, strides=2, padding="same", activation="relu")(fine)
    coarse = layers.Conv2D(24, 3, strides=2, padding="same", activation="relu")(coarse)
    coarse = layers.Conv2D(24, 3, padding="same", activation="relu")(coarse)
    both = layers.Concatenate()([fine, layers.UpSampling2D(4, interpolation="bilinear")(coarse)])
    model = keras.Model(pixels, layers.Conv2D(len(CLASSES), 3, padding="same")(both))
    model.compile(keras.optimizers.Adam(0.005), keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    return model


def intersection_over_union(found: np.ndarray, masks: np.ndarray) -> np.ndarray:
    """Return the share of each class, over all pixels that are not void."""
    known = masks != VOID
    counts = np.zeros((len(CLASSES), len(CLASSES)), np.int64)
    np.add.at(counts, (masks[known], found[known]), 1)
    return counts.diagonal() / (counts.sum(axis=0) + counts.sum(axis=1) - counts.diagonal())


def main(folder: Path, epochs: int) -> None:
    """Pack, check, train, and tell how well the classes of the tiles held out were found."""
    masks = write_voc(folder / "VOC")
    for which in ("train", "val"):
        rm.pack(rm.ImagePairs.voc(folder / "VOC", which), folder / which, format="tfrecord", shards=2)
    checked = sum(check_masks(folder, which, masks) for which in ("train", "val"))
    print(f"{checked} masks hold the indices that were drawn")

    image = rm.Image(mean=rm.IMAGENET_MEAN, std=rm.IMAGENET_STD, layout="hwc")
    moved = rm.Image(crop=rm.RandomCrop(CROP), flip=True, mean=image.mean, std=image.std, layout="hwc")
    train = rm.open(str(folder / "train-*")).shuffle(seed=7).decode(image=moved, label=rm.Mask())
    data = rm.keras.PyDataset(train.batch(BATCH, last="drop"), inputs)
    model = make_network()
    history = model.fit(data, epochs=epochs, shuffle=False, verbose=0, callbacks=[data.callback()])
    print(f"loss {history.history['loss'][0]:.3f}, then {history.history['loss'][-1]:.3f}")

    held_out = rm.open(str(folder / "val-*")).decode(image=image, label=rm.Mask()).batch(BATCH)
    batches = list(held_out.loader(threads=0))
    found = np.concatenate([model.predict_on_batch(batch["image"]).argmax(axis=-1) for batch in batches])
    shares = intersection_over_union(found, np.concatenate([batch["label"] for batch in batches]))
    print("IoU " + ", ".join(f"{name} {share:.2f}" for name, share in zip(CLASSES, shares, strict=True)))


if __name__ == "__main__":
    where = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(tempfile.mkdtemp(prefix="segmentation-"))
    main(where, int(sys.argv[2]) if len(sys.argv) > 2 else 6)
