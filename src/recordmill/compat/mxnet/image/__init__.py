"""``mx.image``: decode, augment and batch images one by one in Python."""

from __future__ import annotations

from recordmill.compat.mxnet.absent import absent
from recordmill.compat.mxnet.image.augmenters import (
    Augmenter,
    BrightnessJitterAug,
    CastAug,
    CenterCropAug,
    ColorJitterAug,
    ColorNormalizeAug,
    ContrastJitterAug,
    CreateAugmenter,
    ForceResizeAug,
    HorizontalFlipAug,
    HueJitterAug,
    LightingAug,
    RandomCropAug,
    RandomGrayAug,
    RandomOrderAug,
    RandomSizedCropAug,
    ResizeAug,
    SaturationJitterAug,
    SequentialAug,
)
from recordmill.compat.mxnet.image.detection import (
    CreateDetAugmenter,
    DetAugmenter,
    DetBorrowAug,
    DetHorizontalFlipAug,
    ImageDetIter,
)
from recordmill.compat.mxnet.image.functions import (
    center_crop,
    color_normalize,
    fixed_crop,
    imdecode,
    imread,
    imresize,
    random_crop,
    random_size_crop,
    resize_short,
    scale_down,
)
from recordmill.compat.mxnet.image.image_iter import ImageIter

_CROP_HINT = "use rand_crop_prob and rand_pad_prob of mx.io.ImageDetRecordIter"
__getattr__ = absent(
    __name__,
    {
        **dict.fromkeys(("DetRandomCropAug", "DetRandomPadAug", "DetRandomSelectAug"), _CROP_HINT),
        "CreateMultiRandCropAugmenter": _CROP_HINT,
        "copyMakeBorder": "use numpy.pad",
        "imrotate": "use rm.warp_affine",
        "random_rotate": "use rm.warp_affine",
    },
)
