"""What TensorFlow 1 had and this package has not, and what to use instead: for messages only."""

from __future__ import annotations

from recordmill.compat.tensorflow.core.elsewhere import NAMES

_NETWORKS = "networks are not part of this package: train with Keras, JAX or PyTorch, which take what tf.data gives"
# how programs call a module: its names
OLDER_NAMES: dict[str, str] = {
    "": NAMES["compat.v1"] + " estimator layers",
    "compat.v1": "estimator layers",
    "contrib": (
        "bayesflow checkpoint cluster_resolver cmake compiler copy_graph crf cudnn_rnn decision_trees deprecated "
        "distribute distributions eager estimator factorization feature_column ffmpeg framework gan graph_editor "
        "grid_rnn image integrate kafka keras kernel_methods labeled_tensor layers learn legacy_seq2seq "
        "linear_optimizer lite losses memory_stats meta_graph_transform metrics mixed_precision model_pruning "
        "nearest_neighbor nn opt optimizer_v2 periodic_resample predictor quantization quantize recurrent "
        "reduce_slice_ops resampler rnn rpc saved_model seq2seq session_bundle signal slim solvers sparsemax specs "
        "staging stat_summarizer stateless summary tensor_forest tensorboard testing tfprof timeseries tpu "
        "training util"
    ),
    "train": (
        "AdadeltaOptimizer AdagradDAOptimizer AdagradOptimizer AdamOptimizer CheckpointSaverHook "
        "ChiefSessionCreator FeedFnHook FinalOpsHook FtrlOptimizer GlobalStepWaiterHook GradientDescentOptimizer "
        "LoggingTensorHook LooperThread MomentumOptimizer NanTensorHook NewCheckpointReader Optimizer ProfilerHook "
        "ProximalAdagradOptimizer ProximalGradientDescentOptimizer QueueRunner RMSPropOptimizer Saver SaverDef "
        "Scaffold SessionCreator SessionManager SessionRunArgs SessionRunHook StepCounterHook StopAtStepHook "
        "SummarySaverHook Supervisor SyncReplicasOptimizer VocabInfo add_queue_runner assert_global_step "
        "batch_join checkpoint_exists cosine_decay create_global_step exponential_decay export_meta_graph "
        "generate_checkpoint_state_proto get_global_step get_or_create_global_step global_step import_meta_graph "
        "init_from_checkpoint input_producer inverse_time_decay limit_epochs maybe_batch maybe_shuffle_batch "
        "natural_exp_decay piecewise_constant polynomial_decay queue_runner range_input_producer "
        "replica_device_setter shuffle_batch_join summary_iterator warm_start write_graph"
    ),
}
# module or name: what to do
OLDER_INSTEAD: dict[str, str] = {
    "": _NETWORKS,
    "FIFOQueue": "use tf.data",
    "IdentityReader": "use tf.data.Dataset.from_tensor_slices",
    "LMDBReader": "read the database in Dataset.from_generator",
    "PaddingFIFOQueue": "use tf.data, and padded_batch",
    "Print": "use tf.print",
    "QueueBase": "use tf.data",
    "RandomShuffleQueue": "use tf.data, and shuffle",
    "ReaderBase": "use tf.data",
    "confusion_matrix": "use tf.math.confusion_matrix",
    "contrib": _NETWORKS,
    "contrib.image": "compute it with NumPy or OpenCV in tf.numpy_function",
    "contrib.slim": "read the files with tf.data.TFRecordDataset; train with Keras, JAX or PyTorch",
    "diag_part": "use tf.linalg.diag_part",
    "reduce_join": "use tf.strings.reduce_join",
    "train": "use tf.keras.optimizers, and model.save or callbacks.ModelCheckpoint for checkpoints",
    "train.batch_join": "use tf.train.batch, or tf.data with interleave",
    "train.input_producer": "use tf.train.slice_input_producer, or tf.data",
    "train.range_input_producer": "use tf.data.Dataset.range",
    "train.shuffle_batch_join": "use tf.train.shuffle_batch, or tf.data with interleave and shuffle",
    "train.summary_iterator": "read the records of event files with tf.data.TFRecordDataset",
}


def instead_of(face: str, name: str) -> str | None:
    """What to use instead of a name of TensorFlow 1."""
    if name not in OLDER_NAMES.get(face, "").split():
        return None
    return OLDER_INSTEAD.get(f"{face}.{name}" if face else name, OLDER_INSTEAD.get(face, _NETWORKS))
