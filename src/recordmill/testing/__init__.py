"""Oracles and conformance tests: the three formats in plain Python, slow and easy to read.

The oracles do not import the rest of the package or its native module, so that neither can hide a mistake of the
other. Read these modules to learn the formats; use them to test any other implementation.
Nothing here imports pytest when it is imported.

=============  ==============================================================================================
module         content
=============  ==============================================================================================
faults         kinds of faults, the error of the oracle, and a collector of the records before a fault
tfrecord       TFRecord frames and their masked CRC-32C
recordio       MXNet RecordIO frames, split at the magic word and rejoined
ofrecord       OFRecord frames, one stream over several part files
wire           the protobuf wire format: varints, tags, fields
protobuf       Example, SequenceExample and OFRecord messages as plain Python values
irheader       the label header in front of a RecordIO image
unusual        legal but odd encodings of the same messages
damage         damaged shards, with what a reader must return and report for each
strategies     Hypothesis strategies for all of these (needs Hypothesis)
storage        a storage in memory, and one that raises an error in a chosen operation
framing_suite  FramingTests: the tests of every framing (needs Hypothesis; pytest runs them)
payload_suite  PayloadTests: the tests of every payload codec (needs Hypothesis; pytest runs them)
=============  ==============================================================================================
"""
