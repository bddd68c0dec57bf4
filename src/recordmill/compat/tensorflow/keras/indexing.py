"""``StringLookup`` and ``IntegerLookup`` for pipelines: words and numbers as places in a vocabulary, and back.

They are no layers of models: strings stay outside those on backends other than TensorFlow.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from recordmill.compat.tensorflow.core.dispatch import run
from recordmill.compat.tensorflow.core.dtypes import int64, string
from recordmill.compat.tensorflow.core.errors import FailedPreconditionError
from recordmill.compat.tensorflow.core.ragged import RaggedTensor
from recordmill.compat.tensorflow.core.tensor import Tensor
from recordmill.compat.tensorflow.keras.encoding import MODES, encoded, idf_of
from recordmill.compat.tensorflow.keras.tokens import refuse_options, rows_of
from recordmill.compat.tensorflow.lookup.tables import KeyValueTensorInitializer, StaticHashTable

# Places that are none: of tokens that are not in the vocabulary, and of the mask where rows are encoded.
_UNKNOWN, _MASKED = -1, -2


class Index:
    """What both have: a vocabulary, given or counted, and tokens that are not in it."""

    key_dtype = string

    def __init__(
        self,
        max_tokens: int | None = None,
        num_oov_indices: int = 1,
        mask_token: Any = None,
        oov_token: Any = None,
        vocabulary: Any = None,
        idf_weights: Any = None,
        invert: bool = False,
        output_mode: str = "int",
        pad_to_max_tokens: bool = False,
        **options: Any,
    ) -> None:
        refuse_options(type(self).__name__, options)
        if output_mode not in MODES:
            raise ValueError(
                f"Invalid value for argument output_mode. Expected one of {MODES}. Received: {output_mode}."
            )
        self._max_tokens, self._num_oov, self._mask, self._oov = max_tokens, num_oov_indices, mask_token, oov_token
        self._invert, self._mode, self._pad = invert, output_mode, pad_to_max_tokens
        self._tokens: list[Any] = []
        self._idf: Any = None
        self._table: StaticHashTable | None = None
        if vocabulary is not None:
            self.set_vocabulary(vocabulary, idf_weights)

    def adapt(self, data: Any, batch_size: int | None = None, steps: int | None = None) -> None:
        """Count the tokens of data, and take the most frequent ones; of equally many, the last by name first."""
        del batch_size
        counts: Counter[Any] = Counter()
        documents: Counter[Any] = Counter()
        total = 0
        for row in rows_of(data, steps):
            counts.update(row)
            documents.update(set(row))
            total += 1
        for special in (self._mask, self._oov):
            counts.pop(self._key(special), None)
        ordered = [token for token, _ in sorted(counts.items(), key=lambda pair: (pair[1], pair[0]), reverse=True)]
        room = None if self._max_tokens is None else self._max_tokens - self._start
        kept = ordered[:room]
        idf = [idf_of(documents[token], total) for token in kept] if self._mode == "tf_idf" else None
        self.set_vocabulary([self._told(token) for token in kept], idf)

    def set_vocabulary(self, vocabulary: Any, idf_weights: Any = None) -> None:
        """Take tokens as they are, with or without the special ones in front."""
        tokens = self._read(vocabulary)
        specials = [self._key(one) for one in self._specials()]
        if tokens[: len(specials)] == specials:
            tokens = tokens[len(specials) :]
        if len(set(tokens)) != len(tokens):
            twice = sorted({one for one in tokens if tokens.count(one) > 1})
            raise ValueError(f"The passed vocabulary has at least one repeated term: {twice}")
        if self._max_tokens is not None and len(tokens) + self._start > self._max_tokens:
            raise ValueError(
                f"the vocabulary holds {len(tokens)} tokens beside {self._start} special ones; max_tokens is "
                f"{self._max_tokens}"
            )
        if self._mode == "tf_idf" and idf_weights is None:
            raise ValueError("`idf_weights` must be set if output_mode is 'tf_idf'.")
        self._tokens, self._idf = tokens, None if idf_weights is None else np.asarray(idf_weights, np.float32)
        places = np.arange(self._start, self._start + len(tokens), dtype=np.int64)
        keys = np.empty(len(tokens), self.key_dtype.numpy_dtype)
        keys[:] = tokens
        self._table = self._reversed(keys, places) if self._invert else self._forward(keys, places)

    def _forward(self, keys: Any, places: Any) -> StaticHashTable:
        if self._mask is not None:
            place = 0 if self._mode == "int" else _MASKED
            keys, places = np.append(keys, np.array([self._key(self._mask)], keys.dtype)), np.append(places, place)
        return StaticHashTable(KeyValueTensorInitializer(Tensor(keys), Tensor(places)), _UNKNOWN)

    def _reversed(self, keys: Any, places: Any) -> StaticHashTable:
        if self._mask is not None:
            keys, places = np.append(keys, np.array([self._key(self._mask)], keys.dtype)), np.append(places, 0)
        return StaticHashTable(KeyValueTensorInitializer(Tensor(places), Tensor(keys)), self._key(self._oov))

    @property
    def _start(self) -> int:
        """Place of the first token of the vocabulary."""
        return len(self._specials())

    def _specials(self) -> list[Any]:
        masks = [self._mask] if self._mask is not None and self._mode == "int" else []
        return [*masks, *[self._oov] * self._num_oov]

    def _read(self, vocabulary: Any) -> list[Any]:
        if isinstance(vocabulary, str | Path):
            vocabulary = Path(vocabulary).read_text("utf-8").splitlines()
        return [self._key(one) for one in (vocabulary.numpy() if isinstance(vocabulary, Tensor) else vocabulary)]

    def _key(self, token: Any) -> Any:
        """Token as tables hold it."""
        return token.encode() if isinstance(token, str) else token

    def _told(self, token: Any) -> Any:
        """Token as programs see it."""
        return token.decode("utf-8", "replace") if isinstance(token, bytes) else token

    def get_vocabulary(self, include_special_tokens: bool = True) -> list[Any]:
        """Return the tokens in order, with the special ones in front unless they are not wanted."""
        return [*(self._specials() if include_special_tokens else []), *map(self._told, self._tokens)]

    def vocabulary_size(self) -> int:
        """Return the number of tokens, with the special ones."""
        return self._start + len(self._tokens)

    def __call__(self, inputs: Any) -> Any:
        """Places of tokens, or tokens of places."""
        if self._invert:
            return self._ready().lookup(run("array.cast", inputs, int64))
        found = self._places(inputs)
        if self._mode == "int":
            return found
        weights = None if self._idf is None else np.concatenate([[self._idf.mean()] * self._start, self._idf])
        return encoded(found, self._mode, self._width(), weights)

    def _ready(self) -> StaticHashTable:
        if self._table is None:
            raise FailedPreconditionError(f"{type(self).__name__} has no vocabulary yet: call adapt, or give it one")
        return self._table

    def _width(self) -> int:
        return self._max_tokens if self._pad and self._max_tokens is not None else self.vocabulary_size()

    def _places(self, inputs: Any) -> Any:
        tokens = self._tokens_of(inputs)
        found: Any = self._ready().lookup(tokens)
        if not self._num_oov and not isinstance(found, RaggedTensor):
            text = "with num_oov_indices=0, all inputs are in the vocabulary"
            run("debugging.assert_none_equal", found, np.int64(_UNKNOWN), message=text)
        return run("array.where", run("math.equal", found, np.int64(_UNKNOWN)), self._unknown(tokens), found)

    def _tokens_of(self, inputs: Any) -> Any:
        return inputs if isinstance(inputs, RaggedTensor) else run("array.convert_to_tensor", inputs)

    def _unknown(self, tokens: Any) -> Any:
        """Places of tokens that are not in the vocabulary."""
        first = int(self._mask is not None and self._mode == "int")
        if self._num_oov == 0:
            return np.int64(_UNKNOWN)
        if self._num_oov == 1:
            return np.int64(first)
        return run("math.add", self._hashed(tokens), np.int64(first))

    def _hashed(self, tokens: Any) -> Any:
        return run("strings.to_hash_bucket_fast", tokens, self._num_oov)


class StringLookup(Index):
    """Words as places in a vocabulary; parameters as `Index`, and `encoding`, which is UTF-8."""

    def __init__(
        self,
        max_tokens: int | None = None,
        num_oov_indices: int = 1,
        mask_token: Any = None,
        oov_token: Any = "[UNK]",  # noqa: S107 (no password)
        vocabulary: Any = None,
        idf_weights: Any = None,
        invert: bool = False,
        output_mode: str = "int",
        pad_to_max_tokens: bool = False,
        **options: Any,
    ) -> None:
        given = (vocabulary, idf_weights, invert, output_mode, pad_to_max_tokens)
        super().__init__(max_tokens, num_oov_indices, mask_token, oov_token, *given, **options)


class IntegerLookup(Index):
    """Whole numbers as places in a vocabulary; parameters as `Index`."""

    key_dtype = int64

    def __init__(
        self,
        max_tokens: int | None = None,
        num_oov_indices: int = 1,
        mask_token: Any = None,
        oov_token: int = -1,
        vocabulary: Any = None,
        idf_weights: Any = None,
        invert: bool = False,
        output_mode: str = "int",
        pad_to_max_tokens: bool = False,
        **options: Any,
    ) -> None:
        given = (vocabulary, idf_weights, invert, output_mode, pad_to_max_tokens)
        super().__init__(max_tokens, num_oov_indices, mask_token, oov_token, *given, **options)

    def _key(self, token: Any) -> Any:
        return None if token is None else int(token)

    def _tokens_of(self, inputs: Any) -> Any:
        return run("array.cast", inputs, int64)

    def _hashed(self, tokens: Any) -> Any:
        return run("math.floormod", tokens, np.int64(self._num_oov))
