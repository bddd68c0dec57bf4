"""The messages of example.proto."""

from recordmill.compat.tensorflow.train.messages import Example, SequenceExample

__all__ = ["Example", "SequenceExample"]
