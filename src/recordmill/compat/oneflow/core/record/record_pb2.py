"""``oneflow.core.record.record_pb2``: the record messages, at OneFlow's import path."""

from recordmill.compat.oneflow import record_pb2

__getattr__, __dir__ = record_pb2.__getattr__, record_pb2.__dir__
