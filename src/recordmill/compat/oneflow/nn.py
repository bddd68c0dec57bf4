"""``flow.nn``: OneFlow's modules that read records and decode and transform images."""

from recordmill.compat.oneflow.image_decoders import OFRecordImageDecoder, OFRecordImageDecoderRandomCrop
from recordmill.compat.oneflow.module import Module
from recordmill.compat.oneflow.raw_decoders import OFRecordBytesDecoder, OFRecordRawDecoder
from recordmill.compat.oneflow.reader import OFRecordReader
from recordmill.compat.oneflow.transforms import CoinFlip, CropMirrorNormalize, Resize
from recordmill.compat.oneflow.unsupported import create_module_getattr, create_namespace

__getattr__ = create_module_getattr("flow.nn", globals())

OfrecordReader = OFRecordReader
OfrecordRawDecoder = OFRecordRawDecoder
image = create_namespace("flow.nn.image", {"Resize": Resize})

__all__ = [
    "CoinFlip",
    "CropMirrorNormalize",
    "Module",
    "OFRecordBytesDecoder",
    "OFRecordImageDecoder",
    "OFRecordImageDecoderRandomCrop",
    "OFRecordRawDecoder",
    "OFRecordReader",
    "OfrecordRawDecoder",
    "OfrecordReader",
    "image",
]
