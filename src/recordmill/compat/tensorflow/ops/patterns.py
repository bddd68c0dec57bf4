"""Regular expressions of RE2, which ``tf.strings`` takes, by Python's ``re``.

The two differ in a few spellings, in what an empty match after another match means, and in what RE2 does not have.
Strings are read as UTF-8; classes of digits, letters and white space are those of ASCII.

References
----------
https://github.com/google/re2/wiki/Syntax
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from typing import Any

from recordmill.compat.tensorflow.core.dispatch import op
from recordmill.compat.tensorflow.core.errors import InvalidArgumentError
from recordmill.compat.tensorflow.core.tensor import Tensor
from recordmill.compat.tensorflow.ops.texts import each, strings_of

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
_SIGN = re.compile(r"\\Q.*?(?:\\E|$)|\\.|\[:\^?\w+:\]|\[\^?\]?|\]|\(\?[^:)]?|\$|.", re.DOTALL)
_NOT_RE2 = re.compile(r"\(\?(?:[=!#>(]|<[=!]|P=)|[*+?}]\+")
# Patterns each part of which takes a character, so that no match is empty.
_CONSUMING = re.compile(r"(?:\\[dDsSwW\W]|\[\^?[^\[\]\\]+\]|[^\\\[\]|*?{}()^$])+")


def _invalid(pattern: str, why: str) -> InvalidArgumentError:
    return InvalidArgumentError(f"Invalid pattern: {pattern}, error: {why} [Op:StaticRegexReplace]")


def _translated(pattern: str) -> Iterator[str]:
    inside = False
    for found in _SIGN.finditer(pattern):
        sign = found[0]
        if sign.startswith("\\Q"):
            yield re.escape(sign[2:].removesuffix("\\E"))
        elif sign.startswith("\\"):
            yield _escape(sign, pattern)
        elif inside and sign.startswith("[:"):
            yield _posix(sign, pattern)
        elif sign.startswith("[") and not inside:
            inside = True
            yield sign.replace("]", r"\]")
        elif sign == "]":
            inside = False
            yield sign
        elif sign == "$" and not inside:
            yield r"\Z"
        else:
            yield sign.replace("[", r"\[") if inside else sign


def _escape(sign: str, pattern: str) -> str:
    letter = sign[1:]
    if letter == "z":
        return r"\Z"
    if letter in "pP":
        raise NotImplementedError(f"regular expressions with Unicode classes are not supported: {pattern}")
    if letter in "123456789CZ" or (letter.isalpha() and letter not in "abfnrtvdDsSwWABxE"):
        raise _invalid(pattern, f"invalid escape sequence: {sign}")
    return sign


def _posix(sign: str, pattern: str) -> str:
    name = sign[2:-2]
    if name.startswith("^"):
        raise NotImplementedError(f"regular expressions with negated classes by name are not supported: {pattern}")
    if name not in _POSIX:
        raise _invalid(pattern, f"invalid character class range: {sign}")
    return _POSIX[name]


@functools.lru_cache(maxsize=256)
def compiled(pattern: bytes) -> re.Pattern[str]:
    """Compile a regular expression of RE2."""
    text = pattern.decode("utf-8", "surrogateescape")
    other = _NOT_RE2.search(re.sub(r"\\.|\[[^\]]*\]", "", text, flags=re.DOTALL))
    if other:
        raise _invalid(text, f"invalid perl operator: {other[0]}")
    try:
        return re.compile("".join(_translated(text)), re.ASCII)
    except re.error as error:
        missing = error.msg.startswith("missing )")
        raise _invalid(text, f"missing ): {text}" if missing else error.msg) from None


def _is_rewrite(rewrite: str, num_groups: int) -> bool:
    """Whether each backslash stands before another one or before the number of a group."""
    letters = [found[0][1:] for found in re.finditer(r"\\.?", rewrite, re.DOTALL)]
    return all(one == "\\" or (one.isdecimal() and int(one) <= num_groups) for one in letters)


def _rewritten(rewrite: str, found: re.Match[str]) -> str:
    def part(escape: re.Match[str]) -> str:
        letter = escape[0][1:]
        return letter if letter == "\\" else found[int(letter)] or ""

    return re.sub(r"\\.", part, rewrite, flags=re.DOTALL)


@op("strings.regex_replace")
def regex_replace(input: Any, pattern: Any, rewrite: Any, replace_global: bool = True) -> Tensor:  # noqa: A002
    r"""Matches of a regular expression replaced."""
    matcher = compiled(_single(pattern))
    replacement = _single(rewrite).decode("utf-8", "surrogateescape")
    if not _is_rewrite(replacement, matcher.groups):
        return Tensor(strings_of(input, "RegexReplace"))

    count = 0 if replace_global else 1
    if "\\" not in replacement and _CONSUMING.fullmatch(matcher.pattern):

        def quick(value: bytes) -> bytes:
            text = value.decode("utf-8", "surrogateescape")
            return matcher.sub(replacement, text, count=count).encode("utf-8", "surrogateescape")

        return each(strings_of(input, "RegexReplace"), quick)

    def replaced(value: bytes) -> bytes:
        end = -1

        def put(found: re.Match[str]) -> str:
            nonlocal end
            # RE2 leaves out an empty match that touches the one before.
            again = found.start() == found.end() == end
            end = found.end()
            return "" if again else _rewritten(replacement, found)

        text = value.decode("utf-8", "surrogateescape")
        return matcher.sub(put, text, count=count).encode("utf-8", "surrogateescape")

    return each(strings_of(input, "RegexReplace"), replaced)


@op("strings.regex_full_match")
def regex_full_match(input: Any, pattern: Any) -> Tensor:  # noqa: A002 (TensorFlow's name)
    """Whether a regular expression matches whole strings."""
    matcher = compiled(_single(pattern))
    array = strings_of(input, "RegexFullMatch")
    return each(array, lambda one: matcher.fullmatch(one.decode("utf-8", "surrogateescape")) is not None, bool)


def _single(value: Any) -> bytes:
    found: bytes = strings_of(value, "RegexReplace").reshape(-1)[0]
    return found
