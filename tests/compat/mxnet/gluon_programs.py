"""Programs with Gluon's datasets and loaders: each takes the module and a folder, and returns plain values."""

from __future__ import annotations

import random

import numpy as np


def picture(number):
    y, x = np.mgrid[:30, :40]
    return np.stack([x * 6 + number, y * 8, 0 * x + 7 * number], 2).astype(np.uint8)


def packed(mx, folder, name, labels):
    path = f"{folder}/{name}"
    record = mx.recordio.MXIndexedRecordIO(f"{path}.idx", f"{path}.rec", "w")
    for number, label in enumerate(labels):
        header = mx.recordio.IRHeader(0, label, number, 0)
        record.write_idx(number * 10, mx.recordio.pack_img(header, picture(number), quality=3, img_fmt=".png"))
    record.close()
    return f"{path}.rec"


def summarize(value):
    array = value.asnumpy() if hasattr(value, "asnumpy") else np.asarray(value)
    some = array.astype(np.float64).ravel()
    return [array.dtype.name, list(array.shape), round(float(some.sum()), 2), np.round(some[:4], 4).tolist()]


def datasets(mx, folder):
    data, path = mx.gluon.data, packed(mx, folder, "a", range(7))
    made = data.vision.ImageRecordDataset(path)
    several = data.vision.ImageRecordDataset(packed(mx, folder, "b", [[1, 2.5], [3, 4.5]]))
    rows = {"sample": [summarize(made[3][0]), made[3][1], type(made[3][1]).__name__]}
    rows["several"] = [[summarize(part) for part in several[place]] for place in range(2)]
    rows["grey"] = summarize(data.vision.ImageRecordDataset(path, flag=0)[1][0])
    rows["lengths"] = [len(one) for one in (made.take(3), made.take(None), *(made.shard(3, part) for part in range(3)))]
    chosen = [
        made.shard(3, 1),
        made.filter(lambda sample: sample[1] % 2 == 0),
        made.sample(data.SequentialSampler(2, 3)),
    ]
    rows["chosen"] = [[one[place][1] for place in range(len(one))] for one in chosen]
    records = data.RecordFileDataset(path)
    rows["records"] = [len(records), type(records[0]).__name__, mx.recordio.unpack(records[6])[0].id]
    arrays = data.ArrayDataset(mx.nd.array(np.arange(6)).reshape((3, 2)), np.array([1, 2, 3]))
    rows["arrays"] = [len(arrays), *(summarize(part) for part in arrays[1])]
    numbers = data.SimpleDataset([1, 2, 3]).transform(lambda x: x + 1)
    rows["numbers"] = [[numbers[place] for place in range(3)], numbers.transform(lambda x: -x, lazy=False)[0]]
    return rows


def steps(mx, folder):
    names = mx.gluon.data.vision.transforms
    made = mx.gluon.data.vision.ImageRecordDataset(packed(mx, folder, "a", range(3)))
    image, two = made[2][0], mx.nd.stack(made[0][0], made[1][0])
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
    rows["two"] = [summarize(names.ToTensor()(two)), summarize(names.Resize(8)(two))]
    random.seed(3)
    np.random.seed(3)  # noqa: NPY002
    rows["random part"] = summarize(names.RandomResizedCrop(12)(image))
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
    made = data.vision.ImageRecordDataset(packed(mx, folder, "a", range(7)))
    first, rows = made.transform_first(names.Compose([names.Resize(6), names.ToTensor()])), {}
    for last in ("keep", "discard", "rollover"):
        loader = data.DataLoader(first, batch_size=3, last_batch=last)
        rows[last] = [len(loader), [[summarize(part) for part in batch] for batch in loader]]
        rows[last] += [len(loader), [len(batch[1]) for batch in loader]]
    ahead = data.DataLoader(first, 4, num_workers=2)
    rows["ahead"] = [[summarize(part) for part in batch] for batch in ahead]
    np.random.seed(5)  # noqa: NPY002
    rows["shuffled"] = [batch[1].asnumpy().tolist() for batch in data.DataLoader(made, 3, shuffle=True)]
    batches = data.BatchSampler(data.SequentialSampler(7), 5, "discard")
    rows["batches"] = [batch[1].asnumpy().tolist() for batch in data.DataLoader(made, batch_sampler=batches)]
    doubled = data.vision.ImageRecordDataset(f"{folder}/a.rec", transform=lambda x, y: np.float32(y * 2))
    rows["labels"] = [summarize(batch) for batch in data.DataLoader(doubled, 4)]
    rows["own"] = list(data.DataLoader(data.SimpleDataset([1, 2, 3]), 2, batchify_fn=sum))
    return rows


PROGRAMS = {one.__name__: one for one in (datasets, steps, loaders)}
