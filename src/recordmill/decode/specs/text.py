"""How bytes become text."""

from __future__ import annotations

import codecs
from dataclasses import dataclass
from typing import Literal

from recordmill.decode.specs.base import Spec, check_choice


@dataclass(frozen=True, slots=True, repr=False)
class Text(Spec):
    """Encoded text; the output is an array of `str` objects, or of lists of them where records hold several.

    Parameters
    ----------
    encoding : str
    errors : {"strict", "replace"}
        Whether bytes that are no text are refused, or become U+FFFD.
    feature : str, optional
        Where the bytes are; the name of the output by default.
    """

    encoding: str = "utf-8"
    errors: Literal["strict", "replace"] = "strict"
    feature: str | None = None

    def __post_init__(self) -> None:
        """Check the options."""
        check_choice("errors", self.errors, ("strict", "replace"))
        try:
            codecs.lookup(self.encoding)
        except LookupError:
            raise ValueError(f"no encoding {self.encoding!r}") from None
