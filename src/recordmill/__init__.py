"""Training-record files (TFRecord, OFRecord, MXNet RecordIO): written, read, indexed, verified, packed and loaded.

Names are loaded when they are first used, so that ``import recordmill`` costs next to nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_PLACES = {
    "errors": (
        "ChecksumError CompressionError DamageError FeatureError FormatError FramingError ImageError InputError "
        "LabelError LimitError MissingExtraError OutputExistsError PayloadError RecordmillError ShardChangedError "
        "TruncatedError WriteError"
    ),
    "types": "Fault Feature FeatureList FrameIndex Ragged Schema",
    "pipeline.dataset": "Dataset open",
    "pipeline.loader": "Loader",
    "shards.index": "build_index",
    "shards.info": "info Info ShardInfo",
    "shards.reader": "ShardReader",
    "shards.verify": "verify Report",
    "shards.writer": "ShardWriter",
}
_HOME = {name: module for module, names in _PLACES.items() for name in names.split()}
__all__ = sorted(_HOME)  # noqa: PLE0605

if TYPE_CHECKING:
    from recordmill.errors import *  # noqa: F403
    from recordmill.pipeline.dataset import Dataset, open
    from recordmill.pipeline.loader import Loader
    from recordmill.shards.index import build_index
    from recordmill.shards.info import Info, ShardInfo, info
    from recordmill.shards.reader import ShardReader
    from recordmill.shards.verify import Report, verify
    from recordmill.shards.writer import ShardWriter
    from recordmill.types import Fault, Feature, FeatureList, FrameIndex, Ragged, Schema


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'recordmill' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"recordmill.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
