"""``tf.train``: protobuf messages of records, checkpoints, and input queues of TensorFlow 1."""

from __future__ import annotations

from recordmill.compat.tensorflow.core.lazy import make_lazy_attributes

# Module that defines each public name.
MEMBERS: dict[str, str] = {
    "BytesList": "train.messages",
    "Example": "train.messages",
    "Feature": "train.messages",
    "FeatureList": "train.messages",
    "FeatureLists": "train.messages",
    "Features": "train.messages",
    "FloatList": "train.messages",
    "Int64List": "train.messages",
    "SequenceExample": "train.messages",
    # Names of `tf.train` that concern checkpoints.
    "latest_checkpoint": "train.checkpoints",
    # Names of `tf.train` that concern TensorFlow 1's input queues.
    "Coordinator": "graphs.queues",
    "batch": "graphs.queues",
    "match_filenames_once": "files.contents:matching_files",
    "shuffle_batch": "graphs.queues",
    "start_queue_runners": "graphs.queues",
    "string_input_producer": "graphs.queues",
}
__getattr__, __dir__ = make_lazy_attributes(__name__, MEMBERS)
