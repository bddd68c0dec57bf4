"""Programs of other frameworks with `recordmill.compat`."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benches import wire
from benches.jobs import Job
from benches.programs import for_mxnet, for_oneflow, for_tensorflow
from benches.tasks.programs import AS_WRITTEN, AUTOTUNE, BY_KEY, IN_ORDER

LABEL = "ours"
ENVIRONMENT = ""
REQUIREMENTS = ("recordmill", "numpy", "pillow", "protobuf")
VARIANTS = {
    "tf-photos": (AS_WRITTEN, AUTOTUNE),
    **{name: ("",) for name in for_tensorflow.PROGRAMS if name != "tf-photos"},
    "mx-records": (IN_ORDER, BY_KEY),
    "mx-center": ("",),
    "mx-crop": ("",),
    "mx-im2rec": ("",),
    "of-photos": ("",),
    "of-pack": ("",),
}


def prepare(job: Job) -> None:
    """Pack the data of MXNet and OneFlow programs unless that was done, and write lists or labels for packing."""
    if job.task_name == "of-pack":
        write_labels(job)
    elif job.task.measure == "pack":
        job.write_list_file()
    elif job.task_name.startswith("mx-"):
        _pack(job, job.packed(".rec"), "recordio")
    elif job.task_name.startswith("of-"):
        pack_parts(job)


def write_labels(job: Job) -> None:
    """Write the label file of img2ofrecord: one JSON object per line.

    Parameters
    ----------
    job : Job
    """
    path = labels_path(job)
    with open(f"{path}.part", "w", encoding="utf-8") as file:
        file.writelines(json.dumps({os.path.relpath(name, job.data): label}) + "\n" for name, label in job.rows())
    os.replace(f"{path}.part", path)


def labels_path(job: Job) -> str:
    """Return the path of the label file.

    Parameters
    ----------
    job : Job

    Returns
    -------
    str
    """
    return job.packed("-labels.txt")


def pack_parts(job: Job) -> None:
    """Pack the dataset to OFRecord parts, unless that was done before.

    Parameters
    ----------
    job : Job
    """
    if not os.path.isdir(job.packed("-parts")):
        _pack(job, f"{job.packed('-parts')}/", "ofrecord", shards=4)


def _pack(job: Job, path: str, family: Any, **options: Any) -> None:
    import recordmill as rm

    if os.path.exists(path):
        return
    with rm.ShardWriter(path, format=family, **options) as writer:
        for number, (name, label) in enumerate(job.rows()):
            more = {"id": number} if family == "recordio" else {}
            writer.write({"image": Path(name).read_bytes(), "label": label, **more})


def load(job: Job) -> None:
    """Import modules before the time is measured; the tools run in their own processes."""
    if job.task_name == "tf-write":
        import recordmill.compat.tensorflow as tf

        tf.train.Example()


def run(job: Job) -> Iterator[tuple[int, Any]]:
    """Run the program; yield item counts and results."""
    if job.task_name in ("mx-im2rec", "of-pack"):
        yield from (_im2rec if job.task_name == "mx-im2rec" else _img2ofrecord)(job)
    elif job.task_name.startswith("tf-"):
        import recordmill.compat.tensorflow as tf

        yield from for_tensorflow.PROGRAMS[job.task_name](tf, job)
    elif job.task_name.startswith("mx-"):
        import recordmill.compat.mxnet as mx

        yield from (for_mxnet.records if job.task_name == "mx-records" else for_mxnet.photographs)(mx, job)
    else:
        import recordmill.compat.oneflow as flow

        yield from for_oneflow.photographs(flow, job)


def _im2rec(job: Job) -> Iterator[tuple[int, Any]]:
    list_file = os.path.join(job.out, "photos.lst")
    os.link(job.list_file, list_file)
    module = "recordmill.compat.mxnet.im2rec"
    options = ["--num-thread", "2", "--pass-through"]
    _run_quietly([sys.executable, "-m", module, os.path.join(job.out, "photos"), job.data, *options])
    yield len(job.rows()), None


def _img2ofrecord(job: Job) -> Iterator[tuple[int, Any]]:
    module = "recordmill.compat.oneflow.img2ofrecord"
    options = [f"--image_root={job.data}", f"--label_dir={labels_path(job)}", f"--save_dir={job.out}", "--part_num=5"]
    _run_quietly([sys.executable, "-m", module, *options, "--img_format=.png"])
    yield len(job.rows()), None


def _run_quietly(command: list[str]) -> None:
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def arrays(job: Job, delivered: Any) -> tuple[Any, Any]:
    """Return images and labels of a batch without its padding."""
    if job.task_name.startswith("mx-"):
        count = job.num_records - delivered.pad
        return delivered.data[0].asnumpy()[:count], delivered.label[0].asnumpy()[:count]
    if job.task_name.startswith("of-"):
        return delivered[0], delivered[1]
    return delivered[0].numpy(), delivered[1].numpy()


def columns(_: Job, delivered: Any) -> dict[str, Any]:
    """Return the columns of a batch."""
    return {name: column.numpy() for name, column in delivered.items()}


def images(job: Job) -> Iterator[tuple[bytes, int]]:
    """Yield images and labels from the packed files; digits are decoded to pixels."""
    if job.task_name == "mx-im2rec":
        return map(wire.recordio_image, wire.recordio_payloads(os.path.join(job.out, "photos.rec")))
    if job.task_name == "tf-write":
        return map(wire.example_image, wire.tfrecord_payloads(os.path.join(job.out, "photos.tfrecord")))
    return read_digits(job)


def records(_: Job, delivered: Any) -> Iterator[tuple[bytes, int]]:
    """Return images and labels of unpacked records."""
    return ((image, int(header.label)) for header, image in delivered)


def read_digits(job: Job) -> Iterator[tuple[bytes, int]]:
    """Yield pixels and labels of the digits in OFRecord parts.

    Parameters
    ----------
    job : Job

    Yields
    ------
    bytes
    int
    """
    from PIL import Image

    for name in sorted(name for name in os.listdir(job.out) if name.startswith("part-")):
        for payload in wire.ofrecord_payloads(os.path.join(job.out, name)):
            data, label = wire.ofrecord_image(payload)
            with Image.open(io.BytesIO(data)) as image:
                yield image.convert("L").tobytes(), label
