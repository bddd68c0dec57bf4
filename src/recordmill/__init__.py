"""Read, write, index, verify, pack and load training records (TFRecord, OFRecord and MXNet RecordIO files).

Each public name is imported when it is first used, so that ``import recordmill`` is fast.
"""

from __future__ import annotations

import importlib
import sys
import warnings
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_MODULES = {
    "allocator": "Memory",
    "conversion.convert": "convert",
    "conversion.export.result": "ExportResult RenamedKey SkippedSample",
    "conversion.export.run": "export",
    "conversion.source": "SkippedRecord",
    "conversion.split": "SplitResult split",
    "conversion.writing": "ConvertResult",
    "decode.batch": "decode_batch",
    "decode.color": (
        "adjust_brightness adjust_contrast adjust_hue adjust_saturation grayscale "
        "hls_to_rgb hsv_to_rgb rgb_to_hls rgb_to_hsv"
    ),
    "decode.image": "decode_image decode_jpeg decode_png",
    "decode.image_files": "find_entry_points image_sizes",
    "decode.mixing": "cutmix mixup",
    "decode.presets": "IMAGENET_MEAN IMAGENET_STD",
    "decode.random": "Draws Stage",
    "decode.specs.boxes": "Boxes Keypoints",
    "decode.specs.color": "ColorJitter PCANoise RandomErasing RandomGrayscale",
    "decode.specs.geometry": "CenterCrop Flip GivenCrop GivenFlip RandomAffine RandomCrop RandomResizedCrop Resize",
    "decode.specs.image": "Image",
    "decode.specs.mask": "Mask",
    "decode.specs.raw": "Raw",
    "decode.specs.text": "Text",
    "decode.transforms": "affine crop flip normalize resize resize_boxes warp_affine",
    "errors": (
        "ChecksumError CompressionError DamageError DecodeError DestinationLockedError ExampleTypeError FeatureError "
        "FormatError FramingError ImageError IncompleteDatasetError InputError LabelError LimitError ManifestError "
        "MapError MissingExtraError MissingInputError OutputExistsError PayloadError PlanError RecordmillError "
        "RemoteError ResumeError ShardChangedError StateError TruncatedError UnsupportedPathError WhereError "
        "WorkerError WriteError"
    ),
    "formats.recordio.lst": "ImageList format_image_list read_image_list",
    "packing.pack": "pack",
    "packing.pack_files": "PackResult",
    "packing.parts": "finish_pack pack_part",
    "packing.plan": "PackPlan plan_pack",
    "packing.salvage": "SalvageResult salvage",
    "packing.sources": "ImageFolder ImagePairs LabelFile ListFile Table",
    "packing.verify": "verify",
    "pipeline.contact_sheet": "ContactSheet show",
    "pipeline.dataset": "Dataset",
    "pipeline.loader": "Loader",
    "pipeline.open": "open",
    "pipeline.stages.mix": "mix",
    "schema": "Feature Schema",
    "shards.build_index": "build_index",
    "shards.diff": "DiffResult diff",
    "shards.faces": "Faces read_faces",
    "shards.info": "Info ShardInfo info",
    "shards.lost_ranges": "LostRange",
    "shards.parse_payloads": "parse_payloads",
    "shards.payloads": "iterate_payloads",
    "shards.repair": "RepairResult repair",
    "shards.reader": "PayloadReader ShardReader",
    "shards.verify": "Report",
    "shards.writer": "PayloadWriter ShardWriter",
    "viewer.view": "Viewer view",
    "types": "Fault FeatureList FrameIndex Ragged",
}
_MODULE_OF = {name: module for module, names in _MODULES.items() for name in names.split()}
# Modules that are not in __all__, because a star import would hide the framework of the same name.
_ADAPTERS = ("jax", "keras", "ray", "torch")
__all__ = sorted(_MODULE_OF)  # noqa: PLE0605

if TYPE_CHECKING:
    from recordmill.adapters import (
        jax as jax,
        keras as keras,
        ray as ray,
        torch as torch,
    )
    from recordmill.allocator import (
        Memory as Memory,
    )
    from recordmill.conversion.convert import convert as convert
    from recordmill.conversion.export.result import (
        ExportResult as ExportResult,
        RenamedKey as RenamedKey,
        SkippedSample as SkippedSample,
    )
    from recordmill.conversion.export.run import export as export
    from recordmill.conversion.source import SkippedRecord as SkippedRecord
    from recordmill.conversion.split import SplitResult as SplitResult, split as split
    from recordmill.conversion.writing import ConvertResult as ConvertResult
    from recordmill.decode.batch import decode_batch as decode_batch
    from recordmill.decode.color import (
        adjust_brightness as adjust_brightness,
        adjust_contrast as adjust_contrast,
        adjust_hue as adjust_hue,
        adjust_saturation as adjust_saturation,
        grayscale as grayscale,
        hls_to_rgb as hls_to_rgb,
        hsv_to_rgb as hsv_to_rgb,
        rgb_to_hls as rgb_to_hls,
        rgb_to_hsv as rgb_to_hsv,
    )
    from recordmill.decode.image import (
        decode_image as decode_image,
        decode_jpeg as decode_jpeg,
        decode_png as decode_png,
    )
    from recordmill.decode.image_files import find_entry_points as find_entry_points, image_sizes as image_sizes
    from recordmill.decode.mixing import cutmix as cutmix, mixup as mixup
    from recordmill.decode.presets import IMAGENET_MEAN as IMAGENET_MEAN, IMAGENET_STD as IMAGENET_STD
    from recordmill.decode.random import Draws as Draws, Stage as Stage
    from recordmill.decode.specs.boxes import Boxes as Boxes, Keypoints as Keypoints
    from recordmill.decode.specs.color import (
        ColorJitter as ColorJitter,
        PCANoise as PCANoise,
        RandomErasing as RandomErasing,
        RandomGrayscale as RandomGrayscale,
    )
    from recordmill.decode.specs.geometry import (
        CenterCrop as CenterCrop,
        Flip as Flip,
        GivenCrop as GivenCrop,
        GivenFlip as GivenFlip,
        RandomAffine as RandomAffine,
        RandomCrop as RandomCrop,
        RandomResizedCrop as RandomResizedCrop,
        Resize as Resize,
    )
    from recordmill.decode.specs.image import Image as Image
    from recordmill.decode.specs.mask import Mask as Mask
    from recordmill.decode.specs.raw import Raw as Raw
    from recordmill.decode.specs.text import Text as Text
    from recordmill.decode.transforms import (
        affine as affine,
        crop as crop,
        flip as flip,
        normalize as normalize,
        resize as resize,
        resize_boxes as resize_boxes,
        warp_affine as warp_affine,
    )
    from recordmill.errors import (
        ChecksumError as ChecksumError,
        CompressionError as CompressionError,
        DamageError as DamageError,
        DecodeError as DecodeError,
        DestinationLockedError as DestinationLockedError,
        ExampleTypeError as ExampleTypeError,
        FeatureError as FeatureError,
        FormatError as FormatError,
        FramingError as FramingError,
        ImageError as ImageError,
        IncompleteDatasetError as IncompleteDatasetError,
        InputError as InputError,
        LabelError as LabelError,
        LimitError as LimitError,
        ManifestError as ManifestError,
        MapError as MapError,
        MissingExtraError as MissingExtraError,
        MissingInputError as MissingInputError,
        OutputExistsError as OutputExistsError,
        PayloadError as PayloadError,
        PlanError as PlanError,
        RecordmillError as RecordmillError,
        RemoteError as RemoteError,
        ResumeError as ResumeError,
        ShardChangedError as ShardChangedError,
        StateError as StateError,
        TruncatedError as TruncatedError,
        UnsupportedPathError as UnsupportedPathError,
        WhereError as WhereError,
        WorkerError as WorkerError,
        WriteError as WriteError,
    )
    from recordmill.formats.recordio.lst import (
        ImageList as ImageList,
        format_image_list as format_image_list,
        read_image_list as read_image_list,
    )
    from recordmill.packing.pack import pack as pack
    from recordmill.packing.pack_files import PackResult as PackResult
    from recordmill.packing.parts import finish_pack as finish_pack, pack_part as pack_part
    from recordmill.packing.plan import PackPlan as PackPlan, plan_pack as plan_pack
    from recordmill.packing.salvage import SalvageResult as SalvageResult, salvage as salvage
    from recordmill.packing.sources import (
        ImageFolder as ImageFolder,
        ImagePairs as ImagePairs,
        LabelFile as LabelFile,
        ListFile as ListFile,
        Table as Table,
    )
    from recordmill.packing.verify import verify as verify
    from recordmill.pipeline.contact_sheet import ContactSheet as ContactSheet, show as show
    from recordmill.pipeline.dataset import Dataset as Dataset
    from recordmill.pipeline.loader import Loader as Loader
    from recordmill.pipeline.open import open as open
    from recordmill.pipeline.stages.mix import mix as mix
    from recordmill.schema import (
        Feature as Feature,
        Schema as Schema,
    )
    from recordmill.shards.build_index import build_index as build_index
    from recordmill.shards.diff import DiffResult as DiffResult, diff as diff
    from recordmill.shards.faces import (
        Faces as Faces,
        read_faces as read_faces,
    )
    from recordmill.shards.info import (
        Info as Info,
        ShardInfo as ShardInfo,
        info as info,
    )
    from recordmill.shards.lost_ranges import LostRange as LostRange
    from recordmill.shards.parse_payloads import (
        parse_payloads as parse_payloads,
    )
    from recordmill.shards.payloads import iterate_payloads as iterate_payloads
    from recordmill.shards.reader import PayloadReader as PayloadReader, ShardReader as ShardReader
    from recordmill.shards.repair import RepairResult as RepairResult, repair as repair
    from recordmill.shards.verify import Report as Report
    from recordmill.shards.writer import PayloadWriter as PayloadWriter, ShardWriter as ShardWriter
    from recordmill.types import (
        Fault as Fault,
        FeatureList as FeatureList,
        FrameIndex as FrameIndex,
        Ragged as Ragged,
    )
    from recordmill.viewer.view import Viewer as Viewer, view as view


# Maps names with British spelling, which earlier versions used, to the current names.
_RENAMED = {"ColourJitter": "ColorJitter", "RandomGrey": "RandomGrayscale", "greyscale": "grayscale"}


def __getattr__(name: str) -> Any:
    if name in _RENAMED:
        warnings.warn(f"recordmill.{name} is now recordmill.{_RENAMED[name]}", DeprecationWarning, stacklevel=2)
        return getattr(sys.modules[__name__], _RENAMED[name])
    if name in _ADAPTERS:
        value = importlib.import_module(f"recordmill.adapters.{name}")
    elif name in _MODULE_OF:
        value = getattr(importlib.import_module(f"recordmill.{_MODULE_OF[name]}"), name)
    else:
        from recordmill.suggestions import suggest_name

        similar = None if name.startswith("_") else suggest_name(name, __dir__())
        hint = f"; did you mean {similar!r}?" if similar else ""
        raise AttributeError(f"module 'recordmill' has no attribute {name!r}{hint}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*__all__, *_ADAPTERS, "__version__"})
