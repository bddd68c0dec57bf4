"""``tensorflow.core.example``: the modules from which scripts import the protobuf messages of records."""
