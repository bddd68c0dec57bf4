"""``tf.train``: protobuf messages, ``latest_checkpoint``, and the input queues of TensorFlow 1."""

from __future__ import annotations

from recordmill.compat.tensorflow.core.lazy import make_lazy_attributes

# Maps each public name to the module that defines it.
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
    # Checkpoints.
    "latest_checkpoint": "train.checkpoints",
    # Input queues of TensorFlow 1.
    "Coordinator": "graphs.queues",
    "batch": "graphs.queues",
    "match_filenames_once": "files.contents:matching_files",
    "shuffle_batch": "graphs.queues",
    "start_queue_runners": "graphs.queues",
    "string_input_producer": "graphs.queues",
}
__getattr__, __dir__ = make_lazy_attributes(__name__, MEMBERS)
