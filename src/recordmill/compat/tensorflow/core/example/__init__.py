"""``tensorflow.core.example``: modules with the protobuf messages ``Example``, ``SequenceExample`` and ``Feature``."""
