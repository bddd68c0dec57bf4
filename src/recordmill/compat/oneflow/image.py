"""OneFlow's older functions for pictures; each takes the batch first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from numpy.typing import ArrayLike

from recordmill.compat.oneflow import image_decoders, normalize, resize
from recordmill.compat.oneflow.absent import absent
from recordmill.compat.oneflow.dtypes import float32, uint8
from recordmill.compat.oneflow.tensors import Tensor, TensorBuffer

__getattr__ = absent("flow.image")


def decode(
    images_bytes_buffer: TensorBuffer, dtype: Any = uint8, color_space: str = "BGR", name: str | None = None
) -> TensorBuffer:
    """Pictures of byte strings; options as in `nn.image.decode`."""
    del name
    return image_decoders.ImageDecode(dtype, color_space)(images_bytes_buffer)  # type: ignore[no-any-return]


def Resize(
    image: TensorBuffer, target_size: int | Sequence[int] | None = None, **options: Any
) -> tuple[Tensor | TensorBuffer, Tensor, Tensor | None]:
    """Pictures, scales and new sizes; options as in `nn.image.Resize`."""
    return resize.Resize(target_size, **options)(image)  # type: ignore[no-any-return]


def CropMirrorNormalize(
    input_blob: Tensor | TensorBuffer,
    mirror_blob: ArrayLike | None = None,
    color_space: str = "BGR",
    output_layout: str = "NCHW",
    crop_h: int = 0,
    crop_w: int = 0,
    crop_pos_y: float = 0.5,
    crop_pos_x: float = 0.5,
    mean: float | Sequence[float] = (0.0,),
    std: float | Sequence[float] = (1.0,),
    output_dtype: Any = float32,
    name: str | None = None,
) -> Tensor:
    """Normalised windows of pictures; options as in `nn.CropMirrorNormalize`."""
    del name
    normalise = normalize.CropMirrorNormalize(
        color_space, output_layout, crop_h, crop_w, crop_pos_y, crop_pos_x, mean, std, output_dtype
    )
    return normalise(input_blob, mirror_blob)  # type: ignore[no-any-return]
