"""OneFlow's modules for records and pictures."""

from recordmill.compat.oneflow.absent import absent
from recordmill.compat.oneflow.image_decoders import OFRecordImageDecoder, OFRecordImageDecoderRandomCrop
from recordmill.compat.oneflow.module import Module
from recordmill.compat.oneflow.nn import image
from recordmill.compat.oneflow.normalize import CoinFlip, CropMirrorNormalize
from recordmill.compat.oneflow.raw_decoders import OFRecordBytesDecoder, OFRecordRawDecoder
from recordmill.compat.oneflow.reader import OFRecordReader

__getattr__ = absent("flow.nn")

OfrecordReader = OFRecordReader
OfrecordRawDecoder = OFRecordRawDecoder

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
