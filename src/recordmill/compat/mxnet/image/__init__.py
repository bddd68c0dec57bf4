"""``mx.image``: decode and augment images one by one in Python, and combine them into batches."""

from __future__ import annotations

from recordmill.compat.mxnet.base import create_module_getattr
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
)
from recordmill.compat.mxnet.image.detection import CROP_HINT, ImageDetIter
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

_BOX_HINT = "use functions of an image and its boxes in aug_list"
__getattr__ = create_module_getattr(
    __name__,
    {
        **dict.fromkeys(("DetRandomCropAug", "DetRandomPadAug", "DetRandomSelectAug"), CROP_HINT),
        **dict.fromkeys(("DetAugmenter", "DetBorrowAug", "DetHorizontalFlipAug"), _BOX_HINT),
        "CreateMultiRandCropAugmenter": CROP_HINT,
        "CreateDetAugmenter": "use the options of ImageDetIter",
        "SequentialAug": "apply the augmenters in a loop",
        "copyMakeBorder": "use numpy.pad",
        "imrotate": "use rm.warp_affine",
        "random_rotate": "use rm.warp_affine",
    },
)
