"""Any features asked of any records, parsed by the real TensorFlow and by ours; and the recordings made anew."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import pytest
from hypothesis import HealthCheck, event, given, settings, strategies as st

import recordmill.compat.tensorflow as tf
from recordmill.compat.tensorflow.train import messages
from tests.frameworks.runner import find_interpreter
from tests.recordings.compat.tensorflow.io.jobs import run
from tests.recordings.compat.tensorflow.io.spelling import outcome

RECORDINGS = Path(__file__).parents[1] / "recordings"
DTYPES = ("int64", "float32", "string")
# What a key mostly holds, and is mostly asked for.
USUAL = {"a": "int64", "b": "int64", "c": "float32", "d": "string"}
KEYS = tuple(USUAL)
SETTINGS = settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
pytestmark = [pytest.mark.deep, pytest.mark.timeout(1800)]


@pytest.fixture(scope="module")
def python() -> str:
    """The interpreter beside the real TensorFlow."""
    return find_interpreter("tensorflow")


@pytest.fixture(scope="module")
def theirs(python: str) -> Iterator[Any]:
    """Function that gives TensorFlow's outcome of a job."""
    script = Path(__file__).with_name("program_for_tensorflow_parsing.py")
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL, "text": True}
    with subprocess.Popen([python, str(script)], **pipes) as process:  # type: ignore[call-overload]
        source: IO[str] = process.stdin
        answers: IO[str] = process.stdout

        def ask(job: dict[str, Any]) -> Any:
            source.write(json.dumps(job) + "\n")
            source.flush()
            return json.loads(answers.readline())

        yield ask
        source.close()


def values(dtype: str) -> st.SearchStrategy[Any]:
    """Lists of values of one kind."""
    kinds: dict[str, st.SearchStrategy[Any]] = {
        "int64": st.integers(-(2**63), 2**63 - 1),
        "float32": st.floats(width=32, allow_nan=False),
        "string": st.binary(max_size=4),
    }
    return st.lists(kinds[dtype], max_size=4)


def dtypes(key: str) -> st.SearchStrategy[str]:
    """Dtypes, mostly the usual one of a key."""
    return st.sampled_from((*DTYPES, *[USUAL[key]] * 9))


@st.composite
def features(draw: st.DrawFn, key: str) -> messages.Feature:
    """Features of any kind, or of none."""
    dtype = None if not draw(st.integers(0, 9)) else draw(dtypes(key))
    message = messages.Feature()
    if dtype is not None:
        name = {"int64": "int64_list", "float32": "float_list", "string": "bytes_list"}[dtype]
        getattr(message, name).SetInParent()
        getattr(message, name).value.extend(draw(values(dtype)))
    return message


@st.composite
def records(draw: st.DrawFn, sequence: bool) -> str:
    """Payloads in hexadecimal."""
    context = {key: draw(features(key)) for key in KEYS if draw(st.booleans())}
    if not sequence:
        return messages.Example(features=messages.Features(feature=context)).SerializeToString().hex()
    frames = {key: draw(st.lists(features(key), max_size=3)) for key in KEYS if draw(st.booleans())}
    lists = {key: messages.FeatureList(feature=found) for key, found in frames.items()}
    message = messages.SequenceExample(
        context=messages.Features(feature=context), feature_lists=messages.FeatureLists(feature_list=lists)
    )
    return message.SerializeToString().hex()


@st.composite
def asked(draw: st.DrawFn, kinds: tuple[str, ...], most: int) -> dict[str, Any]:
    """What is asked of features, described as JSON."""
    keys = draw(st.lists(st.sampled_from(KEYS), min_size=1, max_size=most, unique=True))
    return {key: draw(_asked(key, kinds)) for key in keys}


@st.composite
def _asked(draw: st.DrawFn, key: str, kinds: tuple[str, ...]) -> list[Any]:
    kind, dtype = draw(st.sampled_from(kinds)), draw(dtypes(key))
    arguments: dict[str, Any] = {"dtype": dtype}
    if kind in ("FixedLenFeature", "FixedLenSequenceFeature"):
        arguments["shape"] = draw(st.sampled_from(([], [1], [2], [1, 2])))
    if kind == "FixedLenFeature" and draw(st.booleans()):
        size = 2 if arguments["shape"] in ([2], [1, 2]) else 1
        default = {"int64": [7] * size, "float32": [0.5] * size, "string": ["6162"] * size}[dtype]
        arguments["default_value"] = default
    if kind == "FixedLenSequenceFeature":
        arguments["allow_missing"] = True
    if kind == "RaggedFeature":
        arguments["row_splits_dtype"] = draw(st.sampled_from(("int32", "int64")))
    return [kind, arguments]


def agree(expected: dict[str, Any], found: dict[str, Any]) -> None:
    """Compare outcomes; where several features are at fault, each may name another one."""
    if "error" in expected:
        assert found.get("error") == expected["error"], (expected, found)
    else:
        assert found == expected


def payloads_of_parts() -> st.SearchStrategy[str]:
    """Payloads, some of them two messages that a parser merges, some with a field that nobody knows."""
    parts = records(sequence=False) | st.just("9a0501ff")
    return records(sequence=False) | st.lists(parts, min_size=2, max_size=2).filter(_merges_alike).map("".join)


def _merges_alike(parts: list[str]) -> bool:
    """Whether no feature without a kind follows one with it: protobuf takes the last of them, TensorFlow the first."""
    first, second = (messages.Example.FromString(bytes.fromhex(part)).features.feature for part in parts)
    return not any(key in first and second[key].WhichOneof("kind") is None for key in second)


EXAMPLE = ("FixedLenFeature", "FixedLenSequenceFeature", "VarLenFeature", "RaggedFeature")
CONTEXT = ("FixedLenFeature", "VarLenFeature", "RaggedFeature")
LISTS = ("FixedLenSequenceFeature", "VarLenFeature", "RaggedFeature")


@SETTINGS
@given(
    call=st.sampled_from(("parse_example", "parse_single_example")),
    payloads=st.lists(payloads_of_parts(), min_size=1, max_size=4),
    context=asked(EXAMPLE, 3),
)
def test_parsed_example_equals_tensorflow(theirs: Any, call: str, payloads: list[str], context: Any) -> None:
    job = {"call": call, "payloads": payloads, "context": context, "lists": {}}
    expected = theirs(job)
    event("refused" if "error" in expected else "parsed")
    agree(expected, outcome(lambda: run(tf, job)))


def _lacks_a_kind(payloads: list[str], context: dict[str, Any]) -> bool:
    """Whether a default meets a feature without a kind: there TensorFlow fails, and ours takes the default."""
    for payload in payloads:
        held = messages.SequenceExample.FromString(bytes.fromhex(payload)).context.feature
        for key, (_, arguments) in context.items():
            if "default_value" in arguments and key in held and held[key].WhichOneof("kind") is None:
                return True
    return False


@SETTINGS
@given(
    call=st.sampled_from(("parse_sequence_example", "parse_single_sequence_example")),
    payloads=st.lists(records(sequence=True), min_size=1, max_size=3),
    context=st.just({}) | asked(CONTEXT, 2),
    lists=asked(LISTS, 2),
)
def test_parsed_sequence_example_equals_tensorflow(
    theirs: Any, call: str, payloads: list[str], context: Any, lists: Any
) -> None:
    job = {"call": call, "payloads": payloads, "context": context, "lists": lists}
    if not _lacks_a_kind(payloads, context):
        expected = theirs(job)
        event("refused" if "error" in expected else "parsed")
        agree(expected, outcome(lambda: run(tf, job)))


def test_parsing_recordings_equal_new_ones(python: str, tmp_path: Path) -> None:
    script = RECORDINGS / "compat" / "tensorflow" / "io" / "make.py"
    done = subprocess.run([python, str(script), str(tmp_path)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-4000:]
    kept = sorted(script.parent.glob("*_cases.json"))
    assert len(kept) == 5
    for path in kept:
        assert json.loads((tmp_path / path.name).read_text()) == json.loads(path.read_text()), path.name
