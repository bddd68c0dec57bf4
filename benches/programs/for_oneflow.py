"""Programs for OneFlow: the ImageNet chain of its model zoo."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from benches.jobs import Job
from benches.steps import MEAN, SIDE, STD


def photographs(flow: Any, job: Job) -> Iterator[tuple[int, Any]]:
    """Read at random, cut at random, resize, mirror, normalize; as many as the data hold if it is compared.

    Parameters
    ----------
    flow : module
        OneFlow, or ours.
    job : Job

    Yields
    ------
    int
        Samples of the batch.
    tuple of ndarray
        Images, labels.
    """
    read = flow.nn.OFRecordReader(
        job.packed("-parts"), batch_size=job.num_records, data_part_num=4, random_shuffle=not job.checking
    )
    label = flow.nn.OFRecordRawDecoder("label", shape=(), dtype=flow.int64)
    crop = flow.nn.OFRecordImageDecoderRandomCrop("image", color_space="RGB")
    resize = flow.nn.image.Resize(target_size=[SIDE, SIDE])
    coin = flow.nn.CoinFlip(batch_size=job.num_records)
    normalize = flow.nn.CropMirrorNormalize(color_space="RGB", output_layout="NCHW", mean=list(MEAN), std=list(STD))
    left = job.size // job.num_records
    while left or not job.checking:
        records = read()
        images, labels = normalize(resize(crop(records))[0], coin()), label(records)
        # OneFlow computes when a value is asked for.
        yield job.num_records, (images.numpy(), labels.numpy())
        left -= 1
