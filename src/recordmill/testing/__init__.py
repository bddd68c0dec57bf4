"""Conformance tests of formats, and oracles: simple but slow reference implementations of the formats in Python.

The oracles of the formats import neither the rest of the package nor its native module, so that they cannot share a
mistake with them. Read these modules to learn the formats, or use them to test another implementation.
Importing these modules does not import pytest.

================  ===========================================================================================
module            content
================  ===========================================================================================
faults            kinds of faults, the error of the oracles, and a function that reads up to the first fault
tfrecord          TFRecord frames and their masked CRC-32C
recordio          MXNet RecordIO frames, which are split at magic words
ofrecord          OFRecord frames, which continue from one part file to the next
protobuf_wire     the protobuf wire format: varints, tags, fields
messages          Example, SequenceExample and OFRecord messages as plain Python values
unusual_messages  valid but unusual encodings of the same messages
image_header      MXNet's image header (IRHeader)
damage            damaged shards, with what a reader must return and report for each
strategies        Hypothesis strategies for all of these (needs Hypothesis)
philox            the random number generator Philox4x32-10
image_oracle      the image steps after decoding, in NumPy and Pillow
storage           a storage in memory, and a wrapper that makes a chosen operation fail
framing_suite     FramingTests: the tests of every framing (needs Hypothesis; pytest runs them)
payload_suite     PayloadTests: the tests of every payload codec (needs Hypothesis; pytest runs them)
================  ===========================================================================================
"""
