"""``tensorflow.core.example.example_pb2``: the protobuf messages ``Example`` and ``SequenceExample``."""

from recordmill.compat.tensorflow.train.messages import Example, SequenceExample

__all__ = ["Example", "SequenceExample"]
