"""What a format is made of: a framing, payload codecs, an index codec; all see buffers, never files."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from recordmill import _core
from recordmill.schema import Feature, Schema
from recordmill.types import FrameIndex, Ragged


@dataclass(frozen=True, slots=True)
class Framing:
    """Where records begin and end; knows nothing of features.

    Parameters
    ----------
    kind : _core.FrameKind
        What the native calls do.
    has_checksum : bool
        Whether frames carry checksums of their payloads.
    can_resync : bool
        Whether a record start can be found again behind damage.
    min_payload_bytes, max_payload_bytes : int
        Limits of one payload.
    """

    kind: _core.FrameKind
    has_checksum: bool
    can_resync: bool
    min_payload_bytes: int
    max_payload_bytes: int


class PayloadCodec(Protocol):
    """Bytes of one record to features and back; knows nothing of files."""

    @property
    def name(self) -> str:
        """Word by which callers choose the codec."""
        ...

    @property
    def kind(self) -> _core.PayloadKind | None:
        """What the native parser reads; None if the payload is one opaque feature."""
        ...

    @property
    def shows_itself(self) -> bool:
        """Whether hardly anything else fits, so that payloads are known in the framing of another format too."""
        ...

    def plan(self, schema: Schema) -> Any:
        """Compile the features of a schema for the native parser."""
        ...

    def columns(self, parsed: Sequence[Any], schema: Schema, num_records: int) -> dict[str, Any]:
        """Name and shape what the native parser brought."""
        ...

    def parse(self, payloads: Ragged, schema: Schema) -> dict[str, Any]:
        """Columns of payloads in a buffer."""
        ...

    def serialize(
        self, examples: Sequence[Mapping[str, Any]], schema: Schema | None, first: int, known: Schema | None = None
    ) -> Ragged:
        """Canonical payloads of examples; `first` is the position of the first one.

        `known` tells, where there is no schema, kinds of features that have no value here, or integers for floats.
        """
        ...

    def infer(self, payloads: Ragged) -> Inference:
        """Features that some payloads have."""
        ...

    def fits(self, payloads: Ragged) -> bool:
        """Whether some payloads are likely to be of this kind."""
        ...


@dataclass(frozen=True, slots=True)
class FeatureSummary:
    """One feature as seen in some records.

    Parameters
    ----------
    feature : Feature
        The narrowest description that fits them all.
    num_present : int
        Records that have it.
    counts : (int, int)
        Least and most values per record (per frame in a sequence).
    num_bytes : (int, int) or None
        Shortest and longest byte string.
    mixed_kinds : bool
        Whether some records have it in another kind than `feature` says.
    """

    feature: Feature
    num_present: int
    counts: tuple[int, int]
    num_bytes: tuple[int, int] | None
    mixed_kinds: bool = False


@dataclass(frozen=True, slots=True)
class Inference:
    """What a look at some payloads told.

    Parameters
    ----------
    num_records : int
        Payloads that were looked at and did parse.
    features : dict of str to FeatureSummary
    fault : str or None
        Why the next payload did not parse.
    """

    num_records: int
    features: dict[str, FeatureSummary]
    fault: str | None = None

    @property
    def schema(self) -> Schema:
        """The features alone."""
        return Schema({name: summary.feature for name, summary in self.features.items()})


class IndexCodec(Protocol):
    """The index file that a format's own tools read."""

    @property
    def suffix(self) -> str:
        """File suffix, with the dot."""
        ...

    def write(self, index: FrameIndex, keys: Sequence[int | str]) -> bytes:
        """Text of the index."""
        ...

    def read(self, data: bytes) -> tuple[list[str], list[int]]:
        """Keys and offsets in file order."""
        ...


@dataclass(frozen=True, slots=True)
class Format:
    """One format: everything that the other layers ask about it.

    Parameters
    ----------
    name : str
        Word by which callers choose it.
    framing : Framing
    payloads : tuple of PayloadCodec
        The first is the usual one.
    suffixes : tuple of str
        Usual endings of shard names; hints only.
    pattern : str
        Names of shards: ``{prefix}``, ``{shard}``, ``{num_shards}``.
    index : IndexCodec or None
    index_on_write : bool
        Whether the format's own tools need its index beside each shard.
    image_feature, label_feature : str
        Usual feature names when images are packed.
    compressible : bool
        Whether readers of this format take whole-file compression.
    spans_files : bool
        Whether a record may begin in one shard and go on in the next.
    looks_like : callable
        Whether a shard that begins with these bytes, and has so many bytes in all if that is known, is of this format.
    """

    name: str
    framing: Framing
    payloads: tuple[PayloadCodec, ...]
    suffixes: tuple[str, ...]
    pattern: str
    index: IndexCodec | None
    index_on_write: bool
    image_feature: str
    label_feature: str
    compressible: bool
    spans_files: bool
    looks_like: Callable[[bytes, int | None], bool]
