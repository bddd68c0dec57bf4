"""Names of OneFlow that this package has not: asking for one says so, and what to do instead."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

_TRAIN = "networks are not part of this package: hand the arrays to Keras, PyTorch or JAX"
_HINTS = {
    "manual_seed": "give random_seed to the reader, to decoders and to CoinFlip",
    "tensor": "use numpy.array: decoders and CropMirrorNormalize take NumPy's arrays",
    "device": "device is left out, or 'cpu'",
    "utils": "use rm.torch, rm.keras or rm.jax",
    "OFRecordImageGpuDecoderRandomCropResize": "use OFRecordImageDecoderRandomCrop and image.Resize",
    "crop_mirror_normalize": "use CropMirrorNormalize",
    "fixed_placement": "use flow.scope.placement('cpu', ...), or leave it out",
    "ofrecord_image_decoder": "use OFRecordImageDecoder",
    "ofrecord_image_decoder_random_crop": "use OFRecordImageDecoderRandomCrop",
    "ofrecord_raw_decoder": "use OFRecordRawDecoder",
    "placement": "leave it out: records are read on the processor, by each process its own parts",
    "resize": "use Resize",
    "sbp": "leave it out: records are read on the processor, by each process its own parts",
    "batch_align": "use image.Resize",
    "config": "leave it out: readers are told what to do by their options",
    "decode_ofrecord": "use flow.data.ofrecord_reader, and a decoder of flow.data for each blob",
    "decode_random": "draw with numpy.random",
    "all_device_placement": "leave it out: records are read on the processor, by each process its own parts",
    "ofrecord_bytes_decoder": "use OFRecordBytesDecoder",
    "coin_flip": "use CoinFlip",
    "from_numpy": "hand NumPy's arrays over as they are",
    "cuda": "hand the arrays to your framework, which moves them",
    "Decode": "use decode",
    "target_resize": "use Resize",
    **dict.fromkeys(
        ("BlobConf", "RawCodec", "ImageCodec", "BytesListCodec"), "use flow.data.ofrecord_reader and decoders"
    ),
    **dict.fromkeys(("OFRecordReader", "ofrecord_loader"), "use flow.data.ofrecord_reader"),
    **dict.fromkeys(
        ("ImageDecoderRandomCropResize", "image_decoder_random_crop_resize"),
        "use OFRecordImageDecoderRandomCrop and image.Resize",
    ),
    **dict.fromkeys(
        ("ofrecord_image_classification_reader", "OFRecordImageClassificationReader"),
        "use OFRecordReader, OFRecordImageDecoder and OFRecordRawDecoder",
    ),
    **dict.fromkeys(("onerec_reader", "OneRecReader", "OneRecDecoder"), "OneRec files are not read: use OFRecord"),
    **dict.fromkeys(("coco_reader", "COCOReader"), "read boxes with rm.Boxes from records of yours"),
    **dict.fromkeys(
        ("log_dir", "machine", "ctrl_port", "data_port", "machine_num"),
        "leave it out: each process reads its own parts",
    ),
    "flip": "use CropMirrorNormalize with mirrors, or numpy.flip",
    "normalize": "use CropMirrorNormalize",
    **dict.fromkeys(("bool", "float16", "half", "bfloat16", "char"), "use int8, uint8, int32, int64, float or double"),
}


class AbsentError(NotImplementedError, AttributeError):
    """A name that OneFlow has and this package has not."""


def absent(module: str) -> Callable[[str], Any]:
    """``__getattr__`` of a module."""

    def refuse(name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(f"module {module!r} has no attribute {name!r}", name=name)
        raise AbsentError(f"{module}.{name} is not supported: {_HINTS.get(name, _TRAIN)}")

    return refuse
