"""``oneflow.core.record.record_pb2``: the record messages, under the name that OneFlow gives them."""

from recordmill.compat.oneflow import record_pb2

__getattr__, __dir__ = record_pb2.__getattr__, record_pb2.__dir__
