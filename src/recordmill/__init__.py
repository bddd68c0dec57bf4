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
    from recordmill.errors import (
        ChecksumError as ChecksumError,
    )
    from recordmill.errors import (
        CompressionError as CompressionError,
    )
    from recordmill.errors import (
        DamageError as DamageError,
    )
    from recordmill.errors import (
        FeatureError as FeatureError,
    )
    from recordmill.errors import (
        FormatError as FormatError,
    )
    from recordmill.errors import (
        FramingError as FramingError,
    )
    from recordmill.errors import (
        ImageError as ImageError,
    )
    from recordmill.errors import (
        InputError as InputError,
    )
    from recordmill.errors import (
        LabelError as LabelError,
    )
    from recordmill.errors import (
        LimitError as LimitError,
    )
    from recordmill.errors import (
        MissingExtraError as MissingExtraError,
    )
    from recordmill.errors import (
        OutputExistsError as OutputExistsError,
    )
    from recordmill.errors import (
        PayloadError as PayloadError,
    )
    from recordmill.errors import (
        RecordmillError as RecordmillError,
    )
    from recordmill.errors import (
        ShardChangedError as ShardChangedError,
    )
    from recordmill.errors import (
        TruncatedError as TruncatedError,
    )
    from recordmill.errors import (
        WriteError as WriteError,
    )
    from recordmill.pipeline.dataset import (
        Dataset as Dataset,
    )
    from recordmill.pipeline.dataset import (
        open as open,
    )
    from recordmill.pipeline.loader import (
        Loader as Loader,
    )
    from recordmill.shards.index import (
        build_index as build_index,
    )
    from recordmill.shards.info import (
        Info as Info,
    )
    from recordmill.shards.info import (
        ShardInfo as ShardInfo,
    )
    from recordmill.shards.info import (
        info as info,
    )
    from recordmill.shards.reader import (
        ShardReader as ShardReader,
    )
    from recordmill.shards.verify import (
        Report as Report,
    )
    from recordmill.shards.verify import (
        verify as verify,
    )
    from recordmill.shards.writer import (
        ShardWriter as ShardWriter,
    )
    from recordmill.types import (
        Fault as Fault,
    )
    from recordmill.types import (
        Feature as Feature,
    )
    from recordmill.types import (
        FeatureList as FeatureList,
    )
    from recordmill.types import (
        FrameIndex as FrameIndex,
    )
    from recordmill.types import (
        Ragged as Ragged,
    )
    from recordmill.types import (
        Schema as Schema,
    )


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'recordmill' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"recordmill.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
