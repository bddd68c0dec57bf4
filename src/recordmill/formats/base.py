"""Interfaces of a format: framing, payload codecs and index codec. They work on buffers and never access files."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from recordmill import _core
from recordmill.schema import Feature, Schema
from recordmill.types import FrameIndex, Ragged


@dataclass(frozen=True, slots=True)
class Framing:
    """Describes how a format delimits records in a file, independently of their content.

    Parameters
    ----------
    kind : _core.FrameKind
        The native framing, which scans, reads and writes frames.
    min_payload_bytes, max_payload_bytes : int
        Smallest and largest length of a payload.
    find_starts : callable or None
        Function that takes a piece of a shard, whose offset is a multiple of 8 bytes, and returns the positions in this
        piece at which a record begins, even if the bytes before the record are damaged. None if other bytes can look
        like the beginning of a record.
    """

    kind: _core.FrameKind
    min_payload_bytes: int
    max_payload_bytes: int = 2**63 - 1
    find_starts: Callable[[Any], NDArray[np.int64]] | None = None

    @property
    def has_checksum(self) -> bool:
        """True if each frame stores a checksum of its payload."""
        return self.kind.has_checksum

    @property
    def can_resync(self) -> bool:
        """True if readers can find the next record after damaged bytes."""
        return self.kind.can_resync


class PayloadCodec(Protocol):
    """Converts payloads to features and back."""

    @property
    def name(self) -> str:
        """Name by which callers select the codec."""
        ...

    @property
    def kind(self) -> _core.PayloadKind | None:
        """Message type that the native parser expects; None if the codec does not parse payloads."""
        ...

    @property
    def is_recognizable(self) -> bool:
        """True if `accepts` can detect this codec, because it rarely returns True for payloads of other codecs."""
        ...

    def compile_schema(self, schema: Schema) -> Any:
        """Compile a schema to a plan for the native parser."""
        ...

    def build_columns(self, parsed: Sequence[Any], schema: Schema, num_records: int) -> dict[str, Any]:
        """Convert the output of the native parser to one column per feature."""
        ...

    def parse(self, payloads: Ragged, schema: Schema) -> dict[str, Any]:
        """Parse payloads to one column per feature."""
        ...

    def serialize(
        self, examples: Sequence[Mapping[str, Any]], schema: Schema | None, first: int, known: Schema | None = None
    ) -> Ragged:
        """Serialize examples to canonical payloads.

        Parameters
        ----------
        examples : sequence of mapping
            Values by feature name.
        schema : Schema or None
            Kinds and shapes that the values must have.
        first : int
            Position of the first example.
        known : Schema, optional
            Features of earlier examples, used if there is no schema. New values must have the same kinds.
        """
        ...

    def infer_features(self, payloads: Ragged) -> InferredFeatures:
        """Infer the names, kinds and shapes of the features that payloads contain."""
        ...

    def accepts(self, payloads: Ragged) -> bool:
        """Return True if all payloads are probably encoded with this codec."""
        ...


@dataclass(frozen=True, slots=True)
class FeatureSummary:
    """Summary of one feature in several records: kind, shape, and number of values per record.

    Parameters
    ----------
    feature : Feature
        The narrowest description that the values in all of these records satisfy.
    num_present : int
        Number of records that have the feature.
    counts : (int, int)
        Minimum and maximum number of values per record (per frame in a sequence).
    num_bytes : (int, int) or None
        Minimum and maximum length of byte strings, in bytes; None for numbers.
    mixed_kinds : bool
        Whether the feature has another kind than `feature.kind` in some records.
    """

    feature: Feature
    num_present: int
    counts: tuple[int, int]
    num_bytes: tuple[int, int] | None
    mixed_kinds: bool = False


@dataclass(frozen=True, slots=True)
class InferredFeatures:
    """Features that were inferred from several payloads.

    Parameters
    ----------
    num_records : int
        Number of payloads that were parsed.
    features : dict of str to FeatureSummary
        Features by name.
    fault : str or None
        Error of the payload that follows these payloads, if it could not be parsed.
    """

    num_records: int
    features: dict[str, FeatureSummary]
    fault: str | None = None

    @property
    def schema(self) -> Schema:
        """Schema with the inferred features."""
        return Schema({name: summary.feature for name, summary in self.features.items()})


class IndexCodec(Protocol):
    """Serializes and parses the index files that other tools for the same format use."""

    @property
    def suffix(self) -> str:
        """File suffix, with the dot."""
        ...

    def serialize(self, index: FrameIndex, keys: Sequence[int | str]) -> bytes:
        """Return the content of an index file, given the frame offsets of a shard and one key per record."""
        ...

    def parse(self, data: bytes) -> tuple[list[str], list[int]]:
        """Parse an index file; return keys and offsets in the order of the file."""
        ...


@dataclass(frozen=True, slots=True)
class Format:
    """All that the package needs to know about one record format.

    Parameters
    ----------
    name : str
        Name by which callers choose the format.
    framing : Framing
        How records are delimited.
    payloads : tuple of PayloadCodec
        Usual payload codecs; the first is the default.
    suffixes : tuple of str
        Usual endings of shard names, used only if the content matches no format.
    pattern : str
        Template of shard names, with the fields ``{prefix}``, ``{shard}`` and ``{num_shards}``.
    index : IndexCodec or None
        Codec of the index files of the format's own tools, if they have any.
    index_on_write : bool
        Whether the format's own tools need an index file beside each shard.
    image_feature, label_feature : str
        Default feature names for packed images.
    compressible : bool
        Whether readers of this format support whole-file compression.
    spans_files : bool
        Whether a record may start in one shard and continue in the next.
    looks_like : callable
        Function that takes the first uncompressed bytes of a shard and the length of the shard in bytes (None if
        unknown). It returns whether the shard has this format.
    prefixes : tuple of str
        Usual prefixes of shard names without any of the `suffixes`, such as ``part-``.
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
    prefixes: tuple[str, ...] = ()
