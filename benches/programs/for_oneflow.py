"""Programs for OneFlow: the ImageNet pipeline of its model zoo."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from benches.jobs import Job
from benches.steps import MEAN, SIDE, STD


def photographs(flow: Any, job: Job) -> Iterator[tuple[int, Any]]:
    """Yield batches of shuffled, randomly cropped, resized, flipped and normalized images; one epoch in the check pass.

    Parameters
    ----------
    flow : module
        OneFlow or `recordmill.compat.oneflow`.
    job : Job

    Yields
    ------
    int
        Number of samples of the batch.
    tuple of ndarray
        Images and labels.
    """
    read = flow.nn.OFRecordReader(
        job.packed("-parts"), batch_size=job.num_records, data_part_num=4, random_shuffle=not job.is_check_pass
    )
    label = flow.nn.OFRecordRawDecoder("label", shape=(), dtype=flow.int64)
    crop = flow.nn.OFRecordImageDecoderRandomCrop("image", color_space="RGB")
    resize = flow.nn.image.Resize(target_size=[SIDE, SIDE])
    coin = flow.nn.CoinFlip(batch_size=job.num_records)
    normalize = flow.nn.CropMirrorNormalize(color_space="RGB", output_layout="NCHW", mean=list(MEAN), std=list(STD))
    left = job.size // job.num_records
    while left or not job.is_check_pass:
        records = read()
        images, labels = normalize(resize(crop(records))[0], coin()), label(records)
        # OneFlow computes a value when it is requested.
        yield job.num_records, (images.numpy(), labels.numpy())
        left -= 1
