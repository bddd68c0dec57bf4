"""The `Text` spec: how encoded text is decoded to `str`."""

from __future__ import annotations

import codecs
from dataclasses import dataclass
from typing import Literal

from recordmill.decode.specs.base import Spec, check_choice
from recordmill.suggestions import suggest_constructor_arguments


@suggest_constructor_arguments
@dataclass(frozen=True, slots=True, repr=False)
class Text(Spec):
    """Decode text to an array of `str`. If a feature has several values, each element is a list of `str`.

    Parameters
    ----------
    encoding : str
        Name of a Python codec.
    errors : str
        Treatment of invalid bytes: "strict" raises an error, "replace" replaces them with U+FFFD.
    feature : str, optional
        Name of the feature that contains the bytes; by default the name of the output.
    """

    encoding: str = "utf-8"
    errors: Literal["strict", "replace"] = "strict"
    feature: str | None = None

    def __post_init__(self) -> None:
        """Check the options, and convert them to their canonical form."""
        check_choice("errors", self.errors, ("strict", "replace"))
        try:
            codecs.lookup(self.encoding)
        except LookupError:
            raise ValueError(f"encoding must be the name of a Python codec, got {self.encoding!r}") from None
