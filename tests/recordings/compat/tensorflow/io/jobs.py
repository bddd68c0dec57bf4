"""Calls of the parsing functions described as JSON, for TensorFlow and for ours."""

from __future__ import annotations

from typing import Any


def feature_of(tf: Any, described: list[Any]) -> Any:
    """Return a feature object: its class and arguments; partitions are classes with their argument."""
    name, arguments = described
    given = dict(arguments)
    given["dtype"] = tf.as_dtype(given["dtype"])
    if "partitions" in given:
        given["partitions"] = [getattr(tf.io.RaggedFeature, kind)(value) for kind, value in given["partitions"]]
    if isinstance(given.get("default_value"), list) and given["dtype"] == tf.string:
        given["default_value"] = [bytes.fromhex(item) for item in given["default_value"]]
    return getattr(tf.io, name)(**given)


def run(tf: Any, job: dict[str, Any]) -> Any:
    """Return what a parsing function returns."""
    payloads = [bytes.fromhex(payload) for payload in job["payloads"]]
    context, lists = (
        {key: feature_of(tf, described) for key, described in job[part].items()} for part in ("context", "lists")
    )
    if job["call"] == "parse_example":
        return tf.io.parse_example(payloads, context)
    if job["call"] == "parse_single_example":
        return tf.io.parse_single_example(payloads[0], context)
    if job["call"] == "parse_sequence_example":
        return tf.io.parse_sequence_example(payloads, context or None, lists or None)
    return tf.io.parse_single_sequence_example(payloads[0], context or None, lists or None)
