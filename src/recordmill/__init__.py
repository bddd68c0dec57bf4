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
    "schema": "Feature Schema",
    "types": "Fault FeatureList FrameIndex Ragged",
    "packing.pack": "pack",
    "packing.result": "PackResult",
    "packing.sources": "ImageFolder ImagePairs LabelFile ListFile Table",
    "pipeline.dataset": "Dataset open",
    "pipeline.loader": "Loader",
    "shards.indexing": "build_index",
    "shards.info": "info Info ShardInfo",
    "shards.reader": "ShardReader",
    "shards.verify": "verify Report",
    "shards.writer": "ShardWriter",
}
_HOME = {name: module for module, names in _PLACES.items() for name in names.split()}
__all__ = sorted(_HOME)  # noqa: PLE0605

if TYPE_CHECKING:
    from recordmill.errors import (
        ChecksumError as ChecksumError,
        CompressionError as CompressionError,
        DamageError as DamageError,
        FeatureError as FeatureError,
        FormatError as FormatError,
        FramingError as FramingError,
        ImageError as ImageError,
        InputError as InputError,
        LabelError as LabelError,
        LimitError as LimitError,
        MissingExtraError as MissingExtraError,
        OutputExistsError as OutputExistsError,
        PayloadError as PayloadError,
        RecordmillError as RecordmillError,
        ShardChangedError as ShardChangedError,
        TruncatedError as TruncatedError,
        WriteError as WriteError,
    )
    from recordmill.packing.pack import (
        pack as pack,
    )
    from recordmill.packing.result import (
        PackResult as PackResult,
    )
    from recordmill.packing.sources import (
        ImageFolder as ImageFolder,
        ImagePairs as ImagePairs,
        LabelFile as LabelFile,
        ListFile as ListFile,
        Table as Table,
    )
    from recordmill.pipeline.dataset import (
        Dataset as Dataset,
        open as open,
    )
    from recordmill.pipeline.loader import (
        Loader as Loader,
    )
    from recordmill.schema import (
        Feature as Feature,
        Schema as Schema,
    )
    from recordmill.shards.indexing import (
        build_index as build_index,
    )
    from recordmill.shards.info import (
        Info as Info,
        ShardInfo as ShardInfo,
        info as info,
    )
    from recordmill.shards.reader import (
        ShardReader as ShardReader,
    )
    from recordmill.shards.verify import (
        Report as Report,
        verify as verify,
    )
    from recordmill.shards.writer import (
        ShardWriter as ShardWriter,
    )
    from recordmill.types import (
        Fault as Fault,
        FeatureList as FeatureList,
        FrameIndex as FrameIndex,
        Ragged as Ragged,
    )


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'recordmill' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"recordmill.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
