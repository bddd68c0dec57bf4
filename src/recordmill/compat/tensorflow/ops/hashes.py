"""Strings as numbers that are the same everywhere: ``tf.strings.to_hash_bucket_fast`` and its kin."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from recordmill.compat.hashing import farm, murmur, sip
from recordmill.compat.tensorflow.core.arrays import array_of
from recordmill.compat.tensorflow.core.dispatch import op
from recordmill.compat.tensorflow.core.errors import InvalidArgumentError
from recordmill.compat.tensorflow.core.tensor import Tensor
from recordmill.compat.tensorflow.ops.matching import bracketed
from recordmill.compat.tensorflow.ops.texts import strings_of


@op("strings.to_hash_bucket_fast")
def to_hash_bucket_fast(input: Any, num_buckets: int) -> Tensor:  # noqa: A002 (TensorFlow's name)
    """Remainder of FarmHash's fingerprint of each string."""
    array = strings_of(input, "StringToHashBucketFast")
    return _buckets(farm.fingerprints(array.reshape(-1).tolist()), array, num_buckets, "StringToHashBucketFast")


@op("strings.to_hash_bucket")
def to_hash_bucket(input: Any, num_buckets: int) -> Tensor:  # noqa: A002 (TensorFlow's name)
    """Remainder of the older hash of each string; otherwise as `to_hash_bucket_fast`."""
    array = strings_of(input, "StringToHashBucket")
    return _buckets(murmur.hashes(array.reshape(-1).tolist()), array, num_buckets, "StringToHashBucket")


@op("strings.to_hash_bucket_strong")
def to_hash_bucket_strong(input: Any, num_buckets: int, key: Any) -> Tensor:  # noqa: A002 (TensorFlow's name)
    """Remainder of SipHash of each string with a key of two numbers; otherwise as `to_hash_bucket_fast`."""
    array = strings_of(input, "StringToHashBucketStrong")
    halves = [int(one) % 2**64 for one in key]
    if len(halves) != 2:
        raise InvalidArgumentError("Key must have 2 elements [Op:StringToHashBucketStrong]")
    found = sip.hashes(array.reshape(-1).tolist(), (halves[0], halves[1]))
    return _buckets(found, array, num_buckets, "StringToHashBucketStrong")


def _buckets(found: NDArray[np.uint64], array: NDArray[Any], num_buckets: Any, name: str) -> Tensor:
    count = int(num_buckets)
    if count < 1:
        raise InvalidArgumentError(f"Value for attr 'num_buckets' of {count} must be at least minimum 1 [Op:{name}]")
    return Tensor((found % np.uint64(count)).astype(np.int64).reshape(array.shape))


@op("strings.fingerprint")
def fingerprint(data: Any, method: Any = "farmhash64") -> Tensor:
    """FarmHash's fingerprint of each row, as eight bytes."""
    asked = array_of(method).item()
    told = asked.decode() if isinstance(asked, bytes) else str(asked)
    if told != "farmhash64":
        raise InvalidArgumentError(f"Unsupported fingerprint method: {told} [Op:Fingerprint]")
    array = array_of(data)
    if not array.ndim:
        raise InvalidArgumentError(f"`data` should have at least one dimension: {bracketed(array.shape)}")
    if array.dtype == object:
        inner = farm.fingerprints(array.reshape(-1).tolist())
        if array.ndim == 1:
            return Tensor(_as_bytes(inner))
        array = inner.reshape(array.shape)
    return Tensor(_as_bytes(farm.fingerprints([np.ascontiguousarray(row).tobytes() for row in array])))


def _as_bytes(found: NDArray[np.uint64]) -> NDArray[np.uint8]:
    return found.astype("<u8").view(np.uint8).reshape(-1, 8)
