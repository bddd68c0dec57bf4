"""MXNet's ImageRecordIter, which decodes with OpenCV, and its reader by position.

On machines with two cores, MXNet decodes in one thread whatever the options are, because it uses half of the processors
that OpenMP reports, minus one. The variant with two threads therefore reports six processors.
"""

from __future__ import annotations

import ctypes
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benches.contenders.mxnet import ENVIRONMENT, REQUIREMENTS
from benches.contenders.ours_programs import records
from benches.environments import home
from benches.jobs import Job
from benches.programs import for_mxnet
from benches.steps import MEAN, SHORTER, SIDE, STD

LABEL = "mxnet"
__all__ = ["ENVIRONMENT", "REQUIREMENTS", "records"]
THREADS = ("2 threads", "as installed")
VARIANTS = {
    "P4a": THREADS,
    "P4b": THREADS,
    "P4c": THREADS,
    "P4-large": ("2 threads",),
    "P4-progressive": ("2 threads",),
    "P5": THREADS,
    "P6a": ("2 threads",),
    "P6b": ("one",),
}
_SOURCE = "int omp_get_num_procs(void) { return 6; }\n"


def prepare(job: Job) -> None:
    """Convert the dataset, unless that was done before."""
    path = _path(job)
    if not os.path.exists(path):
        _convert(job, path)


def _path(job: Job) -> str:
    return job.packed(".rec")


def _index(job: Job) -> str:
    return job.packed(".idx")


def report_six_processors() -> None:
    """Load a library that reports six processors to MXNet; compile it when it is missing.

    Call it before MXNet is imported, so that it is found before the OpenMP that MXNet brings.
    """
    library = home() / "six_processors.so"
    if not library.exists():
        source = library.with_suffix(".c")
        source.write_text(_SOURCE, "utf-8")
        subprocess.run(["cc", "-shared", "-fPIC", "-o", str(library), str(source)], check=True)
    ctypes.CDLL(str(library), mode=ctypes.RTLD_GLOBAL)


def _convert(job: Job, path: str) -> None:
    import mxnet as mx

    writer = mx.recordio.MXIndexedRecordIO(_index(job), f"{path}.part", "w")
    for number, (name, label) in enumerate(job.rows()):
        header = mx.recordio.IRHeader(0, label, number, 0)
        writer.write_idx(number, mx.recordio.pack(header, Path(name).read_bytes()))
    writer.close()
    os.replace(f"{path}.part", path)


def run(job: Job) -> Iterator[tuple[int, Any]]:
    """Yield batches of one epoch after another; of a single epoch in the check pass."""
    if job.task_name == "P6b":
        import mxnet as mx

        yield from for_mxnet.records(mx, job)
        return
    if job.variant == "2 threads":
        report_six_processors()
    batches = _iterator(job)
    while True:
        for batch in batches:
            batch.data[0].wait_to_read()
            yield job.num_records - batch.pad, batch
        if job.is_check_pass:
            return
        batches.reset()


def _iterator(job: Job) -> Any:
    import mxnet as mx

    side = 28 if job.task.recipe == "digit" else SIDE
    options: dict[str, Any] = {
        "path_imgrec": _path(job),
        "batch_size": job.num_records,
        "data_shape": (1 if side == 28 else 3, side, side),
        "preprocess_threads": 2,
        "prefetch_buffer": 4,
        "shuffle": True,
        "verbose": False,
        "round_batch": True,
    }
    normal = dict(zip(("mean_r", "mean_g", "mean_b"), MEAN, strict=True))
    normal |= dict(zip(("std_r", "std_g", "std_b"), STD, strict=True))
    crop = {"random_resized_crop": True, "min_random_area": 0.08, "max_random_area": 1.0, "rand_mirror": True}
    crop |= {"min_aspect_ratio": 3 / 4, "max_aspect_ratio": 4 / 3}
    if job.task.recipe == "crop-uint8":
        return mx.io.ImageRecordUInt8Iter(**options, **crop)
    more = {"digit": {"scale": 1 / 255}, "center": normal | {"resize": SHORTER}, "crop": normal | crop}
    return mx.io.ImageRecordIter(**options, **more[job.task.recipe])


def arrays(job: Job, delivered: Any) -> tuple[Any, Any]:
    """Return images and labels of a batch without its padding."""
    count = job.num_records - delivered.pad
    return delivered.data[0].asnumpy()[:count], delivered.label[0].asnumpy()[:count]
