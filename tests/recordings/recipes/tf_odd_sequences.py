"""SequenceExamples put together by hand, as `tf_odd_examples` does for Examples."""

from __future__ import annotations

from recipes import wire
from recipes.tf_odd_examples import floats, ints
from recipes.wire import entry, features, field


def frame(feature: bytes) -> bytes:
    """Return one Feature of a FeatureList."""
    return field(1, feature)


def lists(*items: bytes) -> bytes:
    """Return the field `feature_lists` from map entries."""
    return field(2, features(items))


def context(*items: bytes) -> bytes:
    """Return the field `context` from map entries."""
    return field(1, features(items))


def odd_sequences() -> dict[str, bytes]:
    """Return serialized SequenceExamples by the name of what is odd."""
    one, two = ints(wire.packed_ints(1)), ints(wire.packed_ints(2, 3))
    steps = frame(one) + frame(two)
    cases = {
        "nothing": b"",
        "empty context and lists": context() + lists(),
        "context only": context(entry("c", one)),
        "lists only": lists(entry("l", steps)),
        "lists before context": lists(entry("l", steps)) + context(entry("c", one)),
        "an empty list of frames": lists(entry("l", b"")),
        "frames without a kind": lists(entry("l", frame(b"") + frame(one) + frame(b""))),
        "frames of several kinds": lists(entry("l", frame(one) + frame(floats(wire.packed_floats(0.5))))),
        "unpacked and packed in one frame": lists(entry("l", frame(ints(wire.unpacked_ints(1) + wire.packed_ints(2))))),
        "two kinds in one frame": lists(entry("l", frame(one + floats(wire.packed_floats(0.5))))),
        "a list twice: the last replaces": lists(entry("l", steps), entry("l", frame(two))),
        "a list twice in two fields": lists(entry("l", steps)) + lists(entry("l", frame(two))),
        "context split over two fields": context(entry("c", one)) + context(entry("d", two)),
        "a list entry: value before key": lists(field(2, steps) + field(1, b"l")),
        "a list entry: no key": lists(field(2, steps)),
        "a list entry: no value": lists(field(1, b"l")),
        "a list entry: value twice": lists(entry("l", steps) + field(2, frame(one))),
        "a list under a key that is not UTF-8": lists(entry(b"\xff", steps)),
        "an Example is a context": field(1, features([entry("c", one)])),
        "a frame beyond its list": lists(entry("l", b"\x0a\x20\x1a\x00")),
        "cut by one byte": lists(entry("l", steps))[:-1],
    }
    for name, raw in wire.unknown_fields().items():
        cases[f"unknown {name} in SequenceExample"] = raw + lists(entry("l", steps)) + raw
        cases[f"unknown {name} in FeatureLists"] = field(2, raw + features([entry("l", steps)]))
        cases[f"unknown {name} in a FeatureList"] = lists(entry("l", raw + steps))
        cases[f"unknown {name} in a frame"] = lists(entry("l", frame(raw + one)))
        cases[f"unknown {name} in a list entry"] = lists(entry("l", steps) + raw, entry("m", steps))
    return cases
