"""Conditions on records, such as ``label == 3 and width > 200``: parsed with `ast`, evaluated on columns with NumPy.

Only the node types that `_Evaluator` handles are allowed. The text is never executed as Python.
"""

from __future__ import annotations

import ast
import keyword
import operator
import re
import string
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from recordmill.errors import WhereError
from recordmill.schema import Feature, Kind
from recordmill.suggestions import suggest_name
from recordmill.types import Ragged

_MAX_CHARACTERS, _MAX_NODES, _MAX_DEPTH = 10_000, 2_000, 100
# Maximum magnitude of integers. Arithmetic on integers is exact, because integers beyond 64 bits become Python objects.
_MAX_INTEGER = 1 << 1024
_INT64 = 1 << 63

Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class FeatureColumn:
    """One feature of several records.

    Parameters
    ----------
    kind : str
    values : ndarray, or Ragged of uint8
        Concatenated values of all records; byte strings are rows of a Ragged.
    counts : ndarray of int64, shape (num_records,)
        Number of values per record.
    present : ndarray of bool, shape (num_records,)
        Whether the record has the feature.
    measures_bytes : bool
        Whether ``len`` is the number of bytes of the only value, instead of the number of values.
    """

    kind: Kind
    values: Any
    counts: NDArray[np.int64]
    present: Mask
    measures_bytes: bool


@dataclass(frozen=True, slots=True)
class _Operand:
    """Value of an expression: one value for all records, or an array with one value per record.

    `kind` is "number", "text", "none" or "list". Numbers are bool, int64, float64, or exact integers as objects.
    """

    kind: str
    values: Any
    present: Any = True


@dataclass(frozen=True, slots=True)
class Where:
    """A parsed condition. Create it with `parse_where`.

    Parameters
    ----------
    text : str
    tree : ast.expr
    names : dict of str to str
        Maps each identifier in the tree to the name of the feature.
    """

    text: str
    tree: ast.expr
    names: dict[str, str]

    @property
    def features(self) -> list[str]:
        """Names of the features that the condition uses."""
        return list(dict.fromkeys(self.names.values()))

    def evaluate(self, columns: Mapping[str, FeatureColumn], num_records: int) -> Mask:
        """Return a mask of the records that meet the condition; features without a column count as missing.

        Raises
        ------
        WhereError
            If values have the wrong type; the error points at the column of the expression.
        """
        evaluator = _Evaluator(self, columns, num_records)
        return np.broadcast_to(evaluator.convert_to_mask(evaluator.visit(self.tree)), (num_records,)).copy()

    def check(self, schema: Mapping[str, Feature]) -> None:
        """Raise WhereError if the condition cannot be evaluated for records with these features."""
        measured = {id(node.args[0]) for node in ast.walk(self.tree) if isinstance(node, ast.Call)}
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Name) and node.id in self.names and id(node) not in measured:
                feature = schema.get(self.names[node.id])
                if feature is not None and (feature.sequence or feature.count not in (None, 1)):
                    _raise_several_values(self.text, node, self.names[node.id])
        empty = np.zeros(0, np.int64)
        columns = {
            name: FeatureColumn(
                schema[name].kind,
                Ragged(np.zeros(0, np.uint8), np.zeros(1, np.int64))
                if schema[name].kind == "bytes"
                else np.zeros(0, schema[name].kind),
                empty,
                empty.astype(bool),
                measures_bytes=False,
            )
            for name in self.features
            if name in schema
        }
        self.evaluate(columns, 0)


def parse_where(text: str, names: Sequence[str]) -> Where:
    """Parse a condition on features with the given names.

    Names that are not identifiers, such as ``image/width``, may be used as they are.

    Raises
    ------
    WhereError
        If the text is not an allowed expression, or uses an unknown name.
    """
    if not isinstance(text, str):
        raise TypeError(f"where must be a str such as 'label == 3', got {type(text).__name__}")
    if len(text) > _MAX_CHARACTERS:
        raise WhereError(
            "the condition is too long",
            kind="bad_where",
            expected=f"at most {_MAX_CHARACTERS:,} characters",
            found=f"{len(text):,}",
        )
    source, placeholders = _replace_names(text, names)
    try:
        # Parentheses allow line breaks. The tree is only inspected, never compiled.
        tree = ast.parse(f"({source}\n)", mode="eval").body
    except SyntaxError as error:
        column = max((error.offset or 2) - 2, 0) if error.lineno == 1 else len(text)
        raise _build_where_error(text, column, f"the condition is not a valid expression: {error.msg}") from None
    except (ValueError, RecursionError, MemoryError):
        raise _build_where_error(text, 0, "the condition is not a valid expression") from None
    _check_size(text, tree)
    used = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and not _is_len(node.id, names):
            name = placeholders.get(node.id, node.id)
            if name not in names:
                _raise_unknown_name(text, node, name, names)
            used[node.id] = name
    where = Where(text, tree, used)
    _Checker(text).visit(tree)
    return where


def _is_len(name: str, names: Sequence[str]) -> bool:
    return name == "len" and "len" not in names


def _replace_names(text: str, names: Sequence[str]) -> tuple[str, dict[str, str]]:
    """Replace names that are not identifiers with placeholders, except in string literals."""
    unusual = [name for name in names if name and not _is_plain_identifier(name)]
    if not unusual:
        return text, {}
    unusual = sorted((name for name in unusual if name in text), key=len, reverse=True)
    placeholders: dict[str, str] = {}
    for name in unusual:
        placeholders[name] = _create_placeholder(len(name.encode()), {*names, *placeholders.values()}, text)
    if not placeholders:
        return text, {}
    pattern = "|".join(map(re.escape, unusual))
    strings = r"'(?:\\.|[^'\\])*'|\"(?:\\.|[^\"\\])*\""
    replaced = re.sub(
        rf"{strings}|(?<![\w/])(?:{pattern})(?![\w/])", lambda match: placeholders.get(match[0], match[0]), text
    )
    return replaced, {identifier: name for name, identifier in placeholders.items()}


def _create_placeholder(num_bytes: int, used: Collection[str], text: str) -> str:
    """Return an unused identifier of `num_bytes` bytes.

    The identifier is as long as the replaced name, so `ast` reports the same positions as for the original text.
    """
    for letters in product(string.ascii_letters, repeat=min(num_bytes, 3)):
        identifier = "".join(letters).ljust(num_bytes, "_")
        if identifier not in used and identifier not in text and not keyword.iskeyword(identifier):
            return identifier
    raise _build_where_error(text, 0, "the condition uses too many names")


def _is_plain_identifier(name: str) -> bool:
    return name.isascii() and name.isidentifier() and not keyword.iskeyword(name)


def _check_size(text: str, tree: ast.expr) -> None:
    """Raise WhereError if a tree has too many nodes or levels. This does not use recursion."""
    level: list[ast.AST] = [tree]
    count = 0
    for _ in range(_MAX_DEPTH):
        level = [child for node in level for child in ast.iter_child_nodes(node)]
        count += len(level)
        if count > _MAX_NODES:
            break
        if not level:
            return
    raise _build_where_error(
        text, 0, "the condition is too complex", expected=f"at most {_MAX_DEPTH} levels, {_MAX_NODES} terms"
    )


def _build_where_error(
    text: str, column: int, message: str, *, expected: str | None = None, hint: str | None = None
) -> WhereError:
    line_start = text.rfind("\n", 0, column) + 1
    line = text[line_start:].split("\n", 1)[0]
    return WhereError(
        message,
        kind="bad_where",
        column=column,
        expression=f"{line}\n{' ' * (column - line_start)}^",
        expected=expected,
        hint=hint,
    )


def _find_node_position(text: str, node: ast.AST) -> int:
    """Return the character position of a node in the text; `ast` reports a line and a UTF-8 byte offset."""
    lines = text.split("\n")
    row, offset = getattr(node, "lineno", 1) - 1, getattr(node, "col_offset", 0)
    line = ("(" + lines[0] if row == 0 else lines[row]) if row < len(lines) else ""
    column = len(line.encode()[:offset].decode(errors="ignore"))
    return sum(len(other) + 1 for other in lines[:row]) + column - (row == 0)


def _raise_unknown_name(text: str, node: ast.AST, name: str, names: Sequence[str]) -> NoReturn:
    similar = suggest_name(name, names)
    hint = f"did you mean {similar!r}?" if similar else f"the features are {', '.join(names) or 'none'}"
    raise _build_where_error(text, _find_node_position(text, node), f"there is no feature {name!r}", hint=hint)


def _raise_several_values(text: str, node: ast.AST, name: str) -> NoReturn:
    message = f"feature {name!r} has several values per record"
    raise _build_where_error(
        text, _find_node_position(text, node), message, hint=f"use len({name}), or a feature with one value"
    )


_COMPARISONS: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
_ARITHMETIC: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}
_ALLOWED = "comparisons, and, or, not, in, + - * / // %, len(), numbers, strings, None, and lists of them"


class _Checker(ast.NodeVisitor):
    """Raises WhereError for node types, operators and constants that a condition must not contain."""

    def __init__(self, text: str) -> None:
        self._text = text

    def visit(self, node: ast.AST) -> None:
        """Raise WhereError if a condition must not contain this node or a node below it."""
        allowed = (
            ast.Name
            | ast.Constant
            | ast.Compare
            | ast.BoolOp
            | ast.UnaryOp
            | ast.BinOp
            | ast.Call
            | ast.List
            | ast.Tuple
        )
        if isinstance(node, ast.expr):
            if not isinstance(node, allowed):
                self._raise_unsupported(node, f"{type(node).__name__} is not supported in a condition")
            self._check_node(node)
        for child in ast.iter_child_nodes(node):
            if not (isinstance(node, ast.Call) and child is node.func):
                self.visit(child)

    def _check_node(self, node: ast.expr) -> None:
        if isinstance(node, ast.BinOp) and type(node.op) not in _ARITHMETIC:
            self._raise_unsupported(node, f"the operator {type(node.op).__name__} is not supported in a condition")
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Invert):
            self._raise_unsupported(node, "the operator ~ is not supported in a condition")
        if isinstance(node, ast.Constant) and not isinstance(node.value, str | bytes | int | float | None):
            self._raise_unsupported(node, f"the constant {node.value!r} is not supported in a condition")
        if isinstance(node, ast.Compare):
            for op in node.ops:
                if not isinstance(op, ast.In | ast.NotIn) and type(op) not in _COMPARISONS:
                    self._raise_unsupported(node, "`is` and `is not` are not supported in a condition", "use == or !=")
        if isinstance(node, ast.Call):
            is_len = isinstance(node.func, ast.Name) and node.func.id == "len"
            if not is_len or node.keywords or len(node.args) != 1 or isinstance(node.args[0], ast.Starred):
                self._raise_unsupported(node, "the only function in a condition is len(), with one argument")

    def _raise_unsupported(self, node: ast.AST, message: str, hint: str | None = None) -> NoReturn:
        hint = hint or f"a condition may contain {_ALLOWED}"
        raise _build_where_error(self._text, _find_node_position(self._text, node), message, hint=hint)


class _Evaluator:
    """Evaluates the tree of a condition on columns."""

    def __init__(self, where: Where, columns: Mapping[str, FeatureColumn], num_records: int) -> None:
        self._text, self._names = where.text, where.names
        self._columns, self._num_records = columns, num_records

    def visit(self, node: ast.expr) -> _Operand:
        """Return the value of an expression for all records."""
        method = getattr(self, f"_visit_{type(node).__name__}")
        result: _Operand = method(node)
        return result

    def convert_to_mask(self, operand: _Operand) -> Any:
        """Return a mask of the records whose value is not None, False, zero or an empty string."""
        if operand.kind == "none":
            return False
        if operand.kind == "text":
            return operand.present & (operand.values != b"")
        return operand.present & np.asarray(operand.values, bool)

    def _raise_error(self, node: ast.AST, message: str, hint: str | None = None) -> NoReturn:
        raise _build_where_error(self._text, _find_node_position(self._text, node), message, hint=hint)

    def _visit_Constant(self, node: ast.Constant) -> _Operand:  # noqa: N802 (name of the node)
        if node.value is None:
            return _Operand("none", None, present=False)
        if isinstance(node.value, str | bytes):
            return _Operand("text", node.value.encode() if isinstance(node.value, str) else node.value)
        if isinstance(node.value, int) and abs(node.value) > _MAX_INTEGER:
            self._raise_error(node, "the number is too large")
        return _Operand("number", node.value)

    def _visit_List(self, node: ast.List | ast.Tuple) -> _Operand:  # noqa: N802
        return _Operand("list", [self.visit(element) for element in node.elts])

    _visit_Tuple = _visit_List  # noqa: N815

    def _visit_Name(self, node: ast.Name) -> _Operand:  # noqa: N802
        column = self._columns.get(self._names[node.id])
        if column is None:
            return _Operand("none", None, present=False)
        if (column.counts > 1).any():
            _raise_several_values(self._text, node, self._names[node.id])
        present = column.counts == 1
        if column.kind == "bytes":
            values = np.full(self._num_records, b"", object)
            values[present] = list(column.values)
            return _Operand("text", values, present)
        if column.kind == "uint64" and (column.values >= _INT64).any():
            values = np.zeros(self._num_records, object)
        else:
            values = np.zeros(self._num_records, np.float64 if column.kind.startswith("float") else np.int64)
        values[present] = column.values
        return _Operand("number", values, present)

    def _visit_Call(self, node: ast.Call) -> _Operand:  # noqa: N802
        (argument,) = node.args
        if isinstance(argument, ast.Name):
            column = self._columns.get(self._names[argument.id])
            if column is None:
                return _Operand("none", None, present=False)
            if column.kind == "bytes" and column.measures_bytes and (column.counts <= 1).all():
                lengths = np.zeros(self._num_records, np.int64)
                lengths[column.counts == 1] = np.diff(column.values.row_splits)
                return _Operand("number", lengths, column.present)
            return _Operand("number", column.counts, column.present)
        operand = self.visit(argument)
        if operand.kind == "text" and isinstance(operand.values, bytes):
            return _Operand("number", len(operand.values))
        return self._raise_error(argument, "len() requires the name of a feature")

    def _visit_BoolOp(self, node: ast.BoolOp) -> _Operand:  # noqa: N802
        combine = np.logical_and if isinstance(node.op, ast.And) else np.logical_or
        result: Any = self.convert_to_mask(self.visit(node.values[0]))
        for value in node.values[1:]:
            result = combine(result, self.convert_to_mask(self.visit(value)))
        return _Operand("number", result)

    def _visit_UnaryOp(self, node: ast.UnaryOp) -> _Operand:  # noqa: N802
        operand = self.visit(node.operand)
        if isinstance(node.op, ast.Not):
            return _Operand("number", np.logical_not(self.convert_to_mask(operand)))
        if isinstance(node.op, ast.UAdd):
            return self._require_number(node.operand, operand)
        return self._apply_operator(node, ast.Sub, _Operand("number", 0), self._require_number(node.operand, operand))

    def _visit_BinOp(self, node: ast.BinOp) -> _Operand:  # noqa: N802
        left = self._require_number(node.left, self.visit(node.left))
        right = self._require_number(node.right, self.visit(node.right))
        return self._apply_operator(node, type(node.op), left, right)

    def _require_number(self, node: ast.AST, operand: _Operand) -> _Operand:
        if operand.kind not in ("number", "none"):
            self._raise_error(node, "arithmetic requires numbers")
        return operand

    def _apply_operator(self, node: ast.AST, op: type[ast.operator], left: _Operand, right: _Operand) -> _Operand:
        if "none" in (left.kind, right.kind):
            return _Operand("none", None, present=False)
        present = np.logical_and(left.present, right.present)
        one, two = (_to_numbers(operand.values) for operand in (left, right))
        if op in (ast.Div, ast.FloorDiv, ast.Mod):
            is_zero = np.asarray(two == 0, bool)
            present, two = present & ~is_zero, np.where(is_zero, 1, two)
        is_integer = one.dtype.kind != "f" and two.dtype.kind != "f" and op is not ast.Div
        try:
            if is_integer and self._may_overflow(node, op, one, two):
                one, two = one.astype(object), two.astype(object)
            elif not is_integer:
                one, two = one.astype(np.float64), two.astype(np.float64)
        except OverflowError:
            self._raise_error(node, "the numbers are too large")
        with np.errstate(all="ignore"):
            return _Operand("number", np.asarray(_ARITHMETIC[op](one, two)), present)

    def _may_overflow(self, node: ast.AST, op: type[ast.operator], one: Any, two: Any) -> bool:
        """Return True if the result of an operation on integers may exceed 64 bits."""
        if not one.size or not two.size:
            return False
        sizes = [max(abs(int(values.min())), abs(int(values.max()))) for values in (one, two)]
        most = sizes[0] * sizes[1] if op is ast.Mult else sum(sizes)
        if most > _MAX_INTEGER:
            self._raise_error(node, "the numbers are too large")
        return most >= _INT64

    def _visit_Compare(self, node: ast.Compare) -> _Operand:  # noqa: N802
        operands = [self.visit(value) for value in (node.left, *node.comparators)]
        nodes = [node.left, *node.comparators]
        result: Any = True
        for position, op in enumerate(node.ops):
            left, right = operands[position], operands[position + 1]
            result = np.logical_and(result, self._compare(nodes[position + 1], op, left, right))
        return _Operand("number", result)

    def _compare(self, node: ast.AST, op: ast.cmpop, left: _Operand, right: _Operand) -> Any:
        if isinstance(op, ast.In | ast.NotIn):
            found = self._contains(node, left, right)
            return found if isinstance(op, ast.In) else np.logical_not(found)
        if "list" in (left.kind, right.kind):
            self._raise_error(node, "a list is only supported after `in`")
        if isinstance(op, ast.NotEq):
            return np.logical_not(self._are_equal(left, right))
        if isinstance(op, ast.Eq):
            return self._are_equal(left, right)
        if "none" in (left.kind, right.kind):
            return np.zeros(self._num_records, bool)
        if left.kind != right.kind:
            self._raise_error(node, "a number and a string cannot be compared with < or >")
        return self._compare_values(op, left, right)

    def _are_equal(self, left: _Operand, right: _Operand) -> Any:
        """Compare for equality. Only the literal None equals a missing value."""
        if "none" in (left.kind, right.kind):
            other = right if left.kind == "none" else left
            return np.logical_not(np.broadcast_to(other.present, (self._num_records,)))
        if left.kind != right.kind:
            return np.zeros(self._num_records, bool)
        return self._compare_values(ast.Eq(), left, right)

    @staticmethod
    def _compare_values(op: ast.cmpop, left: _Operand, right: _Operand) -> Any:
        one, two = left.values, right.values
        if left.kind == "number":
            one, two = _to_numbers(one), _to_numbers(two)
        result = np.asarray(_COMPARISONS[type(op)](one, two), bool)
        return result & np.logical_and(left.present, right.present)

    def _contains(self, node: ast.AST, left: _Operand, right: _Operand) -> Any:
        if right.kind == "list":
            found: Any = np.zeros(self._num_records, bool)
            for element in right.values:
                if element.kind == "list":
                    self._raise_error(node, "a list must not contain lists")
                found = np.logical_or(found, self._are_equal(left, element))
            return found
        if "none" in (left.kind, right.kind):
            return np.zeros(self._num_records, bool)
        if (left.kind, right.kind) != ("text", "text"):
            self._raise_error(node, "`in` requires a list on its right side, or strings on both sides")
        one, two = (np.broadcast_to(np.asarray(side.values, object), (self._num_records,)) for side in (left, right))
        inside = np.fromiter((part in whole for part, whole in zip(one, two, strict=True)), bool, self._num_records)
        return inside & np.logical_and(left.present, right.present)


def _to_numbers(values: Any) -> NDArray[Any]:
    """Convert booleans to integers, and integers beyond 64 bits to objects."""
    array = np.asarray(values)
    if array.dtype.kind == "b":
        return array.astype(np.int64)
    if array.dtype.kind == "u":
        return array.astype(object)
    return array
