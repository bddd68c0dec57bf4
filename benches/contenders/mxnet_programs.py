"""Programs for MXNet, run with MXNet and two threads as explained in `mxnet_images`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from benches.contenders import mxnet, mxnet_images
from benches.contenders.mxnet import ENVIRONMENT, REQUIREMENTS
from benches.contenders.ours_programs import arrays, records
from benches.jobs import Job
from benches.programs import for_mxnet
from benches.tasks.programs import BY_KEY, IN_ORDER

LABEL = "mxnet"
__all__ = ["ENVIRONMENT", "REQUIREMENTS", "arrays", "records"]
VARIANTS = {
    "mx-records": (IN_ORDER, BY_KEY),
    "mx-center": (mxnet_images.THREADS[0],),
    "mx-crop": (mxnet_images.THREADS[0],),
    "mx-im2rec": ("",),
}
images = mxnet.images
load = mxnet.load


def prepare(job: Job) -> None:
    """Convert the dataset, unless that was done before, or write the list of the images to pack."""
    (mxnet if job.task.measure == "pack" else mxnet_images).prepare(job)


def run(job: Job) -> Iterator[tuple[int, Any]]:
    """Run the program; yield item counts and results."""
    if job.task.measure == "pack":
        yield from mxnet.run(job)
        return
    mxnet_images.report_six_processors()
    import mxnet as mx

    yield from (for_mxnet.records if job.task_name == "mx-records" else for_mxnet.photographs)(mx, job)
