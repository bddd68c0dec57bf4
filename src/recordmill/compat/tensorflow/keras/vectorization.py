"""``TextVectorization`` for pipelines: texts as rows of places in a vocabulary.

It is no layer of models: strings stay outside those on backends other than TensorFlow.
"""

from __future__ import annotations

import string
from collections.abc import Callable, Iterable
from typing import Any

from recordmill.compat.tensorflow.core.dispatch import op, run
from recordmill.compat.tensorflow.core.dtypes import string as string_dtype
from recordmill.compat.tensorflow.core.ragged import RaggedTensor
from recordmill.compat.tensorflow.keras.feeding import is_dataset
from recordmill.compat.tensorflow.keras.indexing import StringLookup
from recordmill.compat.tensorflow.keras.tokens import refuse_options

_PUNCTUATION = "[" + "".join("\\" + one for one in string.punctuation) + "]"
_STANDARDS = (None, "lower_and_strip_punctuation", "lower", "strip_punctuation")
_SPLITS = (None, "whitespace", "character")


class TextVectorization:
    """Texts as rows of numbers: made alike, taken apart, and looked up."""

    def __init__(
        self,
        max_tokens: int | None = None,
        standardize: Any = "lower_and_strip_punctuation",
        split: Any = "whitespace",
        ngrams: Any = None,
        output_mode: str = "int",
        output_sequence_length: int | None = None,
        pad_to_max_tokens: bool = False,
        vocabulary: Any = None,
        idf_weights: Any = None,
        ragged: bool = False,
        **options: Any,
    ) -> None:
        refuse_options("TextVectorization", options)
        for name, given, known in (("standardize", standardize, _STANDARDS), ("split", split, _SPLITS)):
            if not callable(given) and given not in known:
                raise ValueError(f"Invalid value for `{name}`: {given!r}. Expected one of {known} or a callable.")
        if output_mode == "one_hot":
            raise ValueError("Invalid value for `output_mode`: 'one_hot'.")
        self._standardize, self._split, self._mode, self._ragged = standardize, split, output_mode, ragged
        self._widths = tuple(range(1, ngrams + 1)) if isinstance(ngrams, int) else ngrams
        self._length = output_sequence_length
        self._lookup = StringLookup(
            max_tokens,
            mask_token="",
            output_mode=output_mode,
            pad_to_max_tokens=pad_to_max_tokens,
            vocabulary=vocabulary,
            idf_weights=idf_weights,
        )

    def adapt(self, data: Any, batch_size: int | None = None, steps: int | None = None) -> None:
        """Count the words of texts, and take the most frequent ones."""
        del batch_size
        elements: Iterable[Any] = (data if steps is None else data.take(steps)) if is_dataset(data) else [data]
        rows = [row for element in elements for row in self._rows(element)]
        self._lookup.adapt(RaggedTensor.from_row_lengths(_joined(rows), [len(row) for row in rows]))

    def _rows(self, element: Any) -> list[list[bytes]]:
        texts = run("array.reshape", run("array.convert_to_tensor", element, string_dtype), [-1])
        words = self._words(texts)
        return words.to_list() if isinstance(words, RaggedTensor) else [[one] for one in words.numpy().tolist()]

    def set_vocabulary(self, vocabulary: Any, idf_weights: Any = None) -> None:
        """Take words as they are; as `StringLookup.set_vocabulary`."""
        self._lookup.set_vocabulary(vocabulary, idf_weights)

    def get_vocabulary(self, include_special_tokens: bool = True) -> list[str]:
        """Return the words in order, with the special ones in front unless they are not wanted."""
        return self._lookup.get_vocabulary(include_special_tokens)

    def vocabulary_size(self) -> int:
        """Return the number of words, with the special ones."""
        return self._lookup.vocabulary_size()

    def __call__(self, inputs: Any) -> Any:
        """Numbers of texts."""
        is_even = self._mode != "int" or (self._length is not None and not self._ragged)
        return run("strings.vectorize" if is_even else "strings.vectorize_rows", self, inputs)

    def numbers(self, inputs: Any) -> Any:
        """Numbers of texts that are there; as the call."""
        texts = run("array.convert_to_tensor", inputs, string_dtype)
        if texts.shape.rank == 2 and self._split is not None:
            texts = run("array.squeeze", texts, -1)
        words = self._words(texts)
        found = self._lookup(words)
        if self._mode != "int" or (self._ragged and self._length is None):
            return found
        return self._filled(found, texts.shape.rank == 0)

    def _filled(self, found: Any, is_single: bool) -> Any:
        """Rows of one length."""
        if is_single:
            if self._length is None:
                return found
            cut = found[: self._length]
            return run("array.pad", cut, [[0, self._length - run("array.size", cut)]])
        if self._ragged:
            return found[:, : self._length]
        return run("ragged.to_tensor", found, shape=None if self._length is None else [None, self._length])

    def _words(self, texts: Any) -> Any:
        found = _applied(self._standardize, texts)
        if callable(self._split):
            found = self._split(found)
        elif self._split == "whitespace":
            found = run("strings.split", found)
        elif self._split == "character":
            found = run("strings.unicode_split", found, "UTF-8")
        return found if self._widths is None else run("strings.ngrams", found, self._widths)


def _applied(standardize: str | Callable[[Any], Any] | None, texts: Any) -> Any:
    if callable(standardize):
        return standardize(texts)
    if standardize in ("lower", "lower_and_strip_punctuation"):
        texts = run("strings.lower", texts)
    if standardize in ("strip_punctuation", "lower_and_strip_punctuation"):
        texts = run("strings.regex_replace", texts, _PUNCTUATION, "")
    return texts


def _joined(rows: list[list[bytes]]) -> Any:
    return run("array.constant", [word for row in rows for word in row], string_dtype)


@op("strings.vectorize")
def vectorize(layer: TextVectorization, inputs: Any) -> Any:
    """Numbers of texts, as many for each."""
    return layer.numbers(inputs)


@op("strings.vectorize_rows")
def vectorize_rows(layer: TextVectorization, inputs: Any) -> Any:
    """Numbers of texts, in rows of their own lengths or of that of the longest."""
    return layer.numbers(inputs)
