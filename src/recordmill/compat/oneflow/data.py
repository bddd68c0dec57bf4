"""OneFlow's older functions for records; each takes the batch first and gives the next one where it is called again.

A reader, or a decoder that draws windows, belongs to the place in the program that calls it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from recordmill.compat.oneflow import image_decoders, raw_decoders, reader
from recordmill.compat.oneflow.absent import absent
from recordmill.compat.oneflow.module import module_at_call_site
from recordmill.compat.oneflow.tensors import Records, Tensor, TensorBuffer

__getattr__ = absent("flow.data")


def ofrecord_reader(
    ofrecord_dir: str,
    batch_size: int = 1,
    data_part_num: int = 1,
    part_name_prefix: str = "part-",
    part_name_suffix_length: int = -1,
    random_shuffle: bool = False,
    shuffle_buffer_size: int = 1024,
    shuffle_after_epoch: bool = False,
    random_seed: int | None = -1,
    name: str | None = None,
) -> Records:
    """Next batch of records of the reader at this place; options as in `nn.OFRecordReader`."""
    return module_at_call_site(  # type: ignore[no-any-return]
        reader.OFRecordReader,
        ofrecord_dir=ofrecord_dir,
        batch_size=batch_size,
        data_part_num=data_part_num,
        part_name_prefix=part_name_prefix,
        part_name_suffix_length=part_name_suffix_length,
        random_shuffle=random_shuffle,
        shuffle_buffer_size=shuffle_buffer_size,
        shuffle_after_epoch=shuffle_after_epoch,
        random_seed=random_seed,
        name=name,
    )()


def OFRecordRawDecoder(
    input_blob: Records,
    blob_name: str,
    shape: Sequence[int],
    dtype: Any,
    dim1_varying_length: bool = False,
    auto_zero_padding: bool = False,
    truncate: bool = False,
    name: str | None = None,
) -> Tensor:
    """Numbers of a feature; options as in `nn.OFRecordRawDecoder`."""
    return module_at_call_site(  # type: ignore[no-any-return]
        raw_decoders.OFRecordRawDecoder,
        blob_name=blob_name,
        shape=shape,
        dtype=dtype,
        dim1_varying_length=dim1_varying_length,
        truncate=truncate,
        auto_zero_padding=auto_zero_padding,
        name=name,
    )(input_blob)


def OFRecordBytesDecoder(input_blob: Records, blob_name: str, name: str | None = None) -> TensorBuffer:
    """Byte strings of a feature."""
    return module_at_call_site(raw_decoders.OFRecordBytesDecoder, blob_name=blob_name, name=name)(input_blob)  # type: ignore[no-any-return]


def OFRecordImageDecoder(
    input_blob: Records, blob_name: str, color_space: str = "BGR", name: str | None = None
) -> TensorBuffer:
    """Pictures of a feature; options as in `nn.OFRecordImageDecoder`."""
    del name
    decoder = module_at_call_site(image_decoders.OFRecordImageDecoder, blob_name=blob_name, color_space=color_space)
    return decoder(input_blob)  # type: ignore[no-any-return]


def OFRecordImageDecoderRandomCrop(
    input_blob: Records,
    blob_name: str,
    color_space: str = "BGR",
    num_attempts: int = 10,
    seed: int | None = None,
    random_area: Sequence[float] = (0.08, 1.0),
    random_aspect_ratio: Sequence[float] = (0.75, 1.333333),
    name: str | None = None,
) -> TensorBuffer:
    """Random windows of the pictures of a feature; options as in `nn.OFRecordImageDecoderRandomCrop`."""
    del name
    return module_at_call_site(  # type: ignore[no-any-return]
        image_decoders.OFRecordImageDecoderRandomCrop,
        blob_name=blob_name,
        color_space=color_space,
        num_attempts=num_attempts,
        random_seed=seed,
        random_area=random_area,
        random_aspect_ratio=random_aspect_ratio,
    )(input_blob)
