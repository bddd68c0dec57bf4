"""``tf.strings.regex_replace`` and ``regex_full_match``: regular expressions in RE2 syntax, run by Python's ``re``.

Strings are decoded as UTF-8; classes of digits, letters and white space match only ASCII. RE2's syntax is translated
where Python's differs; syntax that only Python's ``re`` supports raises InvalidArgumentError.

References
----------
https://github.com/google/re2/wiki/Syntax
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from typing import Any

from recordmill.compat.tensorflow.core.errors import InvalidArgumentError
from recordmill.compat.tensorflow.core.tensor import Tensor
from recordmill.compat.tensorflow.ops.composites import elementwise_op
from recordmill.compat.tensorflow.ops.inputs import convert_strings
from recordmill.compat.tensorflow.ops.strings import map_strings

_POSIX = {
    "alnum": "0-9A-Za-z",
    "alpha": "A-Za-z",
    "ascii": r"\x00-\x7F",
    "blank": r"\t ",
    "cntrl": r"\x00-\x1F\x7F",
    "digit": "0-9",
    "graph": "!-~",
    "lower": "a-z",
    "print": " -~",
    "punct": r"!-/:-@\[-`{-~",
    "space": r"\t\n\v\f\r ",
    "upper": "A-Z",
    "word": "0-9A-Za-z_",
    "xdigit": "0-9A-Fa-f",
}
_PART = re.compile(r"\\Q.*?(?:\\E|$)|\\.|\[:\^?\w+:\]|\[\^?\]?|\]|\(\?[^:)]?|\$|.", re.DOTALL)
_NOT_RE2 = re.compile(r"\(\?(?:[=!#>(]|<[=!]|P=)|[*+?}]\+")

# ruff: noqa: A002 (TensorFlow's names)


def _translate_pattern(pattern: str) -> Iterator[str]:
    in_class = False
    for found in _PART.finditer(pattern):
        part = found[0]
        if part.startswith("\\Q"):
            yield re.escape(part[2:].removesuffix("\\E"))
        elif part.startswith("\\"):
            yield _translate_escape(part, pattern)
        elif in_class and part.startswith("[:"):
            yield _translate_class(part)
        elif part.startswith("[") and not in_class:
            in_class = True
            yield part.replace("]", r"\]")
        elif part == "]":
            in_class = False
            yield part
        elif part == "$" and not in_class:
            yield r"\Z"
        else:
            yield part.replace("[", r"\[") if in_class else part


def _translate_escape(part: str, pattern: str) -> str:
    letter = part[1:]
    if letter == "z":
        return r"\Z"
    if letter in "pP":
        raise NotImplementedError(
            f"Unicode classes such as \\pL are not supported in regular expressions, got {pattern}"
        )
    if letter in "123456789CZ" or (letter.isalpha() and letter not in "abfnrtvdDsSwWABxE"):
        raise InvalidArgumentError(f"invalid escape sequence {part} in pattern {pattern}")
    return part


def _translate_class(part: str) -> str:
    name = part[2:-2]
    if name.startswith("^"):
        raise NotImplementedError(f"negated named character classes are not supported, got {part}")
    if name not in _POSIX:
        raise InvalidArgumentError(f"invalid character class {part}")
    return _POSIX[name]


@functools.lru_cache(maxsize=256)
def _compile_pattern(pattern: bytes) -> re.Pattern[str]:
    text = _decode_utf8(pattern)
    other = _NOT_RE2.search(re.sub(r"\\.|\[[^\]]*\]", "", text, flags=re.DOTALL))
    if other:
        raise InvalidArgumentError(f"invalid operator {other[0]} in pattern {text}")
    try:
        return re.compile("".join(_translate_pattern(text)), re.ASCII)
    except re.error as error:
        raise InvalidArgumentError(f"invalid pattern {text}: {error.msg}") from None


def _decode_utf8(value: bytes) -> str:
    return value.decode("utf-8", "surrogateescape")


def _is_valid_rewrite(rewrite: str, num_groups: int) -> bool:
    """Return whether each escape in `rewrite` is a double backslash or the number of a group in the pattern."""
    letters = [found[0][1:] for found in re.finditer(r"\\.?", rewrite, re.DOTALL)]
    return all(one == "\\" or (one.isdecimal() and int(one) <= num_groups) for one in letters)


def _expand_rewrite(rewrite: str, found: re.Match[str]) -> str:
    def replace_escape(escape: re.Match[str]) -> str:
        letter = escape[0][1:]
        return letter if letter == "\\" else found[int(letter)] or ""

    return re.sub(r"\\.", replace_escape, rewrite, flags=re.DOTALL)


@elementwise_op("strings.regex_replace")
def regex_replace(input: Any, pattern: Any, rewrite: Any, replace_global: bool = True) -> Tensor:
    """``tf.strings.regex_replace``: replace matches of a regular expression."""
    array, matcher = convert_strings(input, "regex_replace"), _compile_pattern(_to_scalar_bytes(pattern))
    replacement = _decode_utf8(_to_scalar_bytes(rewrite))
    if not _is_valid_rewrite(replacement, matcher.groups):
        return Tensor(array)

    def replace_in_string(value: bytes) -> bytes:
        end = -1

        def replace_match(found: re.Match[str]) -> str:
            nonlocal end
            # RE2 skips an empty match directly after the previous match.
            is_skipped = found.start() == found.end() == end
            end = found.end()
            return "" if is_skipped else _expand_rewrite(replacement, found)

        text = matcher.sub(replace_match, _decode_utf8(value), count=0 if replace_global else 1)
        return text.encode("utf-8", "surrogateescape")

    return map_strings(array, replace_in_string)


@elementwise_op("strings.regex_full_match")
def regex_full_match(input: Any, pattern: Any) -> Tensor:
    """``tf.strings.regex_full_match``: return whether each string matches a regular expression completely."""
    matcher = _compile_pattern(_to_scalar_bytes(pattern))
    array = convert_strings(input, "regex_full_match")
    return map_strings(array, lambda one: matcher.fullmatch(_decode_utf8(one)) is not None, bool)


def _to_scalar_bytes(value: Any) -> bytes:
    return bytes(convert_strings(value, "regex").reshape(-1)[0])
