"""Oracle and tooling for tests: the three formats once more, in plain Python, slow and easy to read.

Nothing here but the two suites imports the rest of the package or its native module, so that neither can hide a
mistake of the other. Read these modules to learn the formats; use them to judge any other implementation.

=============  ==============================================================================================
module         what it holds
=============  ==============================================================================================
faults         the words for damage, the error of the oracle, and a collector of what came before the damage
tfrecord       TFRecord frames and their masked CRC-32C
recordio       MXNet RecordIO frames, split at the magic word and rejoined
ofrecord       OFRecord frames, one stream over several part files
wire           the protobuf wire format: varints, tags, fields
protobuf       Example, SequenceExample and OFRecord messages as plain Python values
irheader       the label header in front of a RecordIO image
unusual        legal but odd encodings of the same messages
damage         shards damaged in every way that we know, with what a reader must do about each
strategies     Hypothesis strategies for all of these (needs Hypothesis)
framing_suite  FramingTests: what every framing must pass (needs pytest and Hypothesis)
payload_suite  PayloadTests: what every payload codec must pass (needs pytest and Hypothesis)
=============  ==============================================================================================
"""
