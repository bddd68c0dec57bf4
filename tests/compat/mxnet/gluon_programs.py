"""Programs with Gluon's datasets and loaders: each takes the module and a folder, and returns plain values."""

from __future__ import annotations

import random

import numpy as np


def create_image(number):
    y, x = np.mgrid[:30, :40]
    return np.stack([x * 6 + number, y * 8, 0 * x + 7 * number], 2).astype(np.uint8)


def pack_images(mx, folder, name, labels):
    path = f"{folder}/{name}"
    record = mx.recordio.MXIndexedRecordIO(f"{path}.idx", f"{path}.rec", "w")
    for number, label in enumerate(labels):
        header = mx.recordio.IRHeader(0, label, number, 0)
        record.write_idx(number * 10, mx.recordio.pack_img(header, create_image(number), quality=3, img_fmt=".png"))
    record.close()
    return f"{path}.rec"


def summarize(value):
    array = value.asnumpy() if hasattr(value, "asnumpy") else np.asarray(value)
    some = array.astype(np.float64).ravel()
    return [array.dtype.name, list(array.shape), round(float(some.sum()), 2), np.round(some[:4], 4).tolist()]


def datasets(mx, folder):
    data, path = mx.gluon.data, pack_images(mx, folder, "a", range(7))
    dataset = data.vision.ImageRecordDataset(path)
    several = data.vision.ImageRecordDataset(pack_images(mx, folder, "b", [[1, 2.5], [3, 4.5]]))
    rows = {"sample": [summarize(dataset[3][0]), dataset[3][1], type(dataset[3][1]).__name__]}
    rows["several"] = [[summarize(part) for part in several[position]] for position in range(2)]
    rows["gray"] = summarize(data.vision.ImageRecordDataset(path, flag=0)[1][0])
    rows["lengths"] = [
        len(one) for one in (dataset.take(3), dataset.take(None), *(dataset.shard(3, part) for part in range(3)))
    ]
    selections = [
        dataset.shard(3, 1),
        dataset.filter(lambda sample: sample[1] % 2 == 0),
        dataset.sample(data.SequentialSampler(2, 3)),
    ]
    rows["selected"] = [[one[position][1] for position in range(len(one))] for one in selections]
    records = data.RecordFileDataset(path)
    rows["records"] = [len(records), type(records[0]).__name__, mx.recordio.unpack(records[6])[0].id]
    arrays = data.ArrayDataset(mx.nd.array(np.arange(6)).reshape((3, 2)), np.array([1, 2, 3]))
    rows["arrays"] = [len(arrays), *(summarize(part) for part in arrays[1])]
    numbers = data.SimpleDataset([1, 2, 3]).transform(lambda x: x + 1)
    rows["numbers"] = [[numbers[position] for position in range(3)], numbers.transform(lambda x: -x, lazy=False)[0]]
    return rows


def steps(mx, folder):
    names = mx.gluon.data.vision.transforms
    dataset = mx.gluon.data.vision.ImageRecordDataset(pack_images(mx, folder, "a", range(3)))
    image, two = dataset[2][0], mx.nd.stack(dataset[0][0], dataset[1][0])
    chain = names.Compose(
        [
            names.Resize(24, keep_ratio=True),
            names.CenterCrop(20),
            names.ToTensor(),
            names.Normalize((0.4, 0.5, 0.6), 0.2),
        ]
    )
    single = {
        "chain": chain,
        "resize": names.Resize((17, 11)),
        "nearest": names.Resize(13, interpolation=0),
        "area": names.Resize(9, interpolation=3),
        "crop": names.CenterCrop((50, 20)),
        "tensor": names.ToTensor(),
    }
    rows = {name: summarize(step(image)) for name, step in single.items()}
    rows["two images"] = [summarize(names.ToTensor()(two)), summarize(names.Resize(8)(two))]
    random.seed(3)
    np.random.seed(3)  # noqa: NPY002
    rows["random resized crop"] = summarize(names.RandomResizedCrop(12)(image))
    drawn = names.Compose(
        [
            names.RandomFlipLeftRight(),
            names.RandomColorJitter(0.4, 0.4, 0.4, 0.1),
            names.RandomLighting(0.1),
            names.ToTensor(),
        ]
    )
    rows["drawn"] = summarize(drawn(image.astype("float32")))[:2]
    return rows


def loaders(mx, folder):
    data, names = mx.gluon.data, mx.gluon.data.vision.transforms
    dataset = data.vision.ImageRecordDataset(pack_images(mx, folder, "a", range(7)))
    first, rows = dataset.transform_first(names.Compose([names.Resize(6), names.ToTensor()])), {}
    for last in ("keep", "discard", "rollover"):
        loader = data.DataLoader(first, batch_size=3, last_batch=last)
        rows[last] = [len(loader), [[summarize(part) for part in batch] for batch in loader]]
        rows[last] += [len(loader), [len(batch[1]) for batch in loader]]
    loader = data.DataLoader(first, 4, num_workers=2)
    rows["workers"] = [[summarize(part) for part in batch] for batch in loader]
    np.random.seed(5)  # noqa: NPY002
    rows["shuffled"] = [batch[1].asnumpy().tolist() for batch in data.DataLoader(dataset, 3, shuffle=True)]
    batches = data.BatchSampler(data.SequentialSampler(7), 5, "discard")
    rows["batches"] = [batch[1].asnumpy().tolist() for batch in data.DataLoader(dataset, batch_sampler=batches)]
    doubled = data.vision.ImageRecordDataset(f"{folder}/a.rec", transform=lambda x, y: np.float32(y * 2))
    rows["labels"] = [summarize(batch) for batch in data.DataLoader(doubled, 4)]
    rows["batchify function"] = list(data.DataLoader(data.SimpleDataset([1, 2, 3]), 2, batchify_fn=sum))
    return rows


PROGRAMS = {one.__name__: one for one in (datasets, steps, loaders)}
