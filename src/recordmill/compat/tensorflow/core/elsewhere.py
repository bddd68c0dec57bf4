"""What TensorFlow 2.21 has and this package has not, and what to use instead: for messages only."""

from __future__ import annotations

# how programs call a module: its names
NAMES: dict[str, str] = {
    "": (
        "AggregationMethod CriticalSection DeviceSpec GradientTape IndexedSlices IndexedSlicesSpec Module "
        "NoneTensorSpec Operation OptionalSpec RegisterGradient TensorArraySpec TypeSpec UnconnectedGradients "
        "VariableAggregation VariableSynchronization approx_top_k autodiff batch_to_space bfloat16 "
        "broadcast_dynamic_shape broadcast_static_shape check_pinned constant_initializer "
        "conv conv2d_backprop_filter_v2 conv2d_backprop_input_v2 custom_gradient dtensor eig eigvals "
        "extract_volume_patches feature_column fftnd get_current_name_scope grad_pass_through gradients graph_util "
        "guarantee_const hessians ifftnd import_graph_def init_scope inside_function irfftnd is_symbolic_tensor "
        "lite load_library load_op_library make_ndarray make_tensor_proto matrix_square_root mlir no_gradient "
        "nondifferentiable_batch_function ones_initializer parallel_stack profiler qint16 qint32 qint8 "
        "quantization queue quint16 quint8 ragged_fill_empty_rows ragged_fill_empty_rows_grad random_index_shuffle "
        "random_normal_initializer random_uniform_initializer raw_ops recompute_grad "
        "register_tensor_conversion_function required_space_to_batch_paddings resource rfftnd saved_model security "
        "shape_n space_to_batch space_to_batch_nd summary sysconfig tools tpu tuple types variable_creator_scope "
        "variant xla zeros_initializer"
    ),
    "autograph": ("to_code"),
    "compat": (
        "bytes_or_text_types complex_types dimension_at_index dimension_value forward_compatibility_horizon "
        "forward_compatible integral_types real_types"
    ),
    "compat.v1": (
        "AUTO_REUSE AttrValue COMPILER_VERSION CXX11_ABI_FLAG CXX_VERSION ConditionalAccumulator "
        "ConditionalAccumulatorBase Dimension Event FIFOQueue GIT_VERSION GRAPH_DEF_VERSION "
        "GRAPH_DEF_VERSION_MIN_CONSUMER GRAPH_DEF_VERSION_MIN_PRODUCER GraphDef GraphKeys GraphOptions "
        "HistogramProto IdentityReader LMDBReader LogMessage MONOLITHIC_BUILD MetaGraphDef NameAttrList NoGradient "
        "NodeDef NotDifferentiable OpError OptimizerOptions PaddingFIFOQueue Print PriorityQueue QUANTIZED_DTYPES "
        "QueueBase RandomShuffleQueue ReaderBase RunMetadata RunOptions SessionLog SparseConditionalAccumulator "
        "Summary SummaryMetadata TensorInfo VERSION VariableScope accumulate_n add_check_numerics_ops "
        "add_to_collection add_to_collections all_variables arg_max arg_min assert_proper_iterable "
        "assert_variables_initialized assign assign_add assign_sub batch_gather batch_scatter_update "
        "batch_to_space_nd betainc cholesky_solve clip_by_average_norm colocate_with confusion_matrix container "
        "control_flow_v2_enabled convert_to_tensor_or_indexed_slices convert_to_tensor_or_sparse_tensor "
        "count_up_to create_partitioned_variables decode_compressed decode_json_example delete_session_tensor "
        "dequantize deserialize_many_sparse diag diag_part digamma dimension_at_index dimension_value "
        "distributions erfc executing_eagerly_outside_functions fake_quant_with_min_max_args "
        "fake_quant_with_min_max_args_gradient fake_quant_with_min_max_vars fake_quant_with_min_max_vars_gradient "
        "fake_quant_with_min_max_vars_per_channel fake_quant_with_min_max_vars_per_channel_gradient "
        "fixed_size_partitioner get_collection get_collection_ref get_local_variable get_seed get_session_handle "
        "get_session_tensor get_variable get_variable_scope global_variables glorot_normal_initializer "
        "glorot_uniform_initializer igamma igammac initialize_variables invert_permutation is_variable_initialized "
        "layers lbeta lgamma load_file_system_library local_variables make_template manip matrix_diag "
        "matrix_diag_part matrix_triangular_solve min_max_variable_partitioner mixed_precision model_variables "
        "moving_average_variables no_regularizer op_scope orthogonal_initializer polygamma quantize quantize_v2 "
        "quantized_concat reduce_join report_uninitialized_variables resource_loader resource_variables_enabled "
        "scatter_add scatter_div scatter_max scatter_min scatter_mul scatter_nd_add scatter_nd_sub "
        "scatter_nd_update scatter_sub scatter_update serialize_many_sparse serialize_sparse setdiff1d sparse_mask "
        "sparse_matmul sparse_merge sparse_placeholder sparse_reduce_max_sparse sparse_reduce_sum_sparse spectral "
        "to_bfloat16 to_complex128 to_complex64 trainable_variables truncated_normal_initializer "
        "uniform_unit_scaling_initializer user_ops variable_axis_size_partitioner variable_op_scope variable_scope "
        "variables_initializer variance_scaling_initializer verify_tensor_all_finite wrap_function zeta"
    ),
    "config": (
        "LogicalDevice LogicalDeviceConfiguration experimental_connect_to_cluster experimental_connect_to_host "
        "experimental_functions_run_eagerly get_logical_device_configuration set_logical_device_configuration"
    ),
    "config.experimental": (
        "ClusterDeviceFilters VirtualDeviceConfiguration disable_mlir_bridge enable_mlir_bridge "
        "enable_tensor_float_32_execution get_device_details get_device_policy get_memory_growth get_memory_info "
        "get_memory_usage get_synchronous_execution get_virtual_device_configuration reset_memory_stats "
        "set_device_policy set_synchronous_execution set_virtual_device_configuration "
        "tensor_float_32_execution_enabled"
    ),
    "data": ("IteratorSpec"),
    "data.experimental": (
        "AutotuneAlgorithm AutotuneOptions DatasetInitializer DistributeOptions ExternalStatePolicy "
        "OptimizationOptions RandomDataset Reducer SHARD_HINT ServiceOptions SqlDataset ThreadingOptions at "
        "copy_to_device dense_to_sparse_batch distributed_save enable_debug_mode from_variant get_model_proto "
        "group_by_reducer index_table_from_dataset make_saveable_from_iterator pad_to_cardinality "
        "prefetch_to_device service table_from_dataset to_variant"
    ),
    "debugging": (
        "assert_proper_iterable disable_check_numerics enable_check_numerics experimental get_log_device_placement "
        "is_traceback_filtering_enabled"
    ),
    "distribute": (
        "CrossDeviceOps DistributedDataset DistributedIterator DistributedValues HierarchicalCopyAllReduce "
        "InputOptions InputReplicationMode NcclAllReduce ReduceOp ReductionToOneDevice ReplicaContext RunOptions "
        "Server StrategyExtended coordinator experimental experimental_set_strategy get_replica_context "
        "in_cross_replica_context"
    ),
    "dtypes": ("QUANTIZED_DTYPES bfloat16 complex experimental qint16 qint32 qint8 quint16 quint8 resource variant"),
    "errors": ("OperatorNotAllowedInGraphError"),
    "experimental": (
        "BatchableExtensionType DynamicRaggedShape ExtensionType ExtensionTypeBatchEncoder ExtensionTypeSpec "
        "RowPartition StructuredTensor async_clear_error async_scope dispatch_for_api "
        "dispatch_for_binary_elementwise_apis dispatch_for_binary_elementwise_assert_apis "
        "dispatch_for_unary_elementwise_apis dlpack dtensor enable_strict_mode extension_type float4_e2m1fn "
        "float8_e4m3b11fnuz float8_e4m3fn float8_e4m3fnuz float8_e5m2 float8_e5m2fnuz function_executor_type int2 "
        "int4 numpy register_filesystem_plugin tensorrt uint2 uint4 unregister_dispatch_for"
    ),
    "image": ("decode_jxl extract_glimpse generate_bounding_box_proposals"),
    "io": (
        "decode_json_example decode_jxl decode_proto deserialize_many_sparse encode_proto match_filenames_once "
        "serialize_many_sparse serialize_sparse write_graph"
    ),
    "io.gfile": ("get_registered_schemes"),
    "linalg": (
        "LinearOperator LinearOperatorAdjoint LinearOperatorBlockDiag LinearOperatorBlockLowerTriangular "
        "LinearOperatorCirculant LinearOperatorCirculant2D LinearOperatorCirculant3D LinearOperatorComposition "
        "LinearOperatorDiag LinearOperatorFullMatrix LinearOperatorHouseholder LinearOperatorIdentity "
        "LinearOperatorInversion LinearOperatorKronecker LinearOperatorLowRankUpdate LinearOperatorLowerTriangular "
        "LinearOperatorPermutation LinearOperatorScaledIdentity LinearOperatorToeplitz LinearOperatorTridiag "
        "LinearOperatorZeros banded_triangular_solve cholesky_solve eig eigh_tridiagonal eigvals experimental expm "
        "logm lu lu_matrix_inverse lu_reconstruct lu_solve matrix_rank sqrtm triangular_solve tridiagonal_matmul "
        "tridiagonal_solve"
    ),
    "math": (
        "accumulate_n approx_max_k approx_min_k bessel_i0 bessel_i0e bessel_i1 bessel_i1e betainc "
        "cumulative_logsumexp digamma erfc erfcinv erfinv igamma igammac lbeta lgamma ndtri nextafter polygamma "
        "sobol_sample special zeta"
    ),
    "nn": (
        "RNNCellDeviceWrapper RNNCellDropoutWrapper RNNCellResidualWrapper all_candidate_sampler approx_max_k "
        "approx_min_k atrous_conv2d atrous_conv2d_transpose avg_pool1d avg_pool3d "
        "batch_norm_with_global_normalization batch_normalization bias_add collapse_repeated "
        "compute_accidental_hits compute_average_loss conv1d_transpose conv2d_transpose conv3d conv3d_transpose "
        "conv_transpose convolution crelu ctc_beam_search_decoder ctc_greedy_decoder ctc_loss ctc_unique_labels "
        "depthwise_conv2d_backprop_filter depthwise_conv2d_backprop_input dilation2d embedding_lookup_sparse "
        "erosion2d experimental fixed_unigram_candidate_sampler fractional_avg_pool fractional_max_pool "
        "isotonic_regression learned_unigram_candidate_sampler local_response_normalization log_poisson_loss lrn "
        "max_pool1d max_pool3d max_pool_with_argmax nce_loss normalize_moments pool safe_embedding_lookup_sparse "
        "sampled_softmax_loss scale_regularization_loss separable_conv2d space_to_batch sufficient_statistics "
        "weighted_cross_entropy_with_logits weighted_moments with_space_to_batch"
    ),
    "ragged": ("cross cross_hashed stack_dynamic_partitions"),
    "random": (
        "Algorithm all_candidate_sampler create_rng_state fixed_unigram_candidate_sampler "
        "learned_unigram_candidate_sampler stateless_parameterized_truncated_normal"
    ),
    "random.experimental": ("Algorithm create_rng_state index_shuffle"),
    "signal": ("fftnd ifftnd inverse_mdct irfft3d irfftnd kaiser_bessel_derived_window mdct rfft3d rfftnd"),
    "sparse": ("bincount cross_hashed mask sampled_addmm"),
    "strings": ("unicode_script"),
    "test": (
        "Benchmark TestCase assert_equal_graph_def benchmark_config compute_gradient create_local_cluster "
        "disable_with_predicate experimental is_built_with_rocm is_built_with_xla is_cpu_target_available main "
        "with_eager_op_as_function"
    ),
    "train": (
        "Checkpoint CheckpointManager CheckpointOptions CheckpointView ClusterDef ClusterSpec "
        "ExponentialMovingAverage JobDef ServerDef TrackableView checkpoints_iterator experimental "
        "get_checkpoint_state list_variables load_checkpoint load_variable"
    ),
}
# module or name: what to do
INSTEAD: dict[str, str] = {
    "GradientTape": "train with Keras, JAX or PyTorch, which have gradients",
    "Module": "use Keras, JAX or PyTorch for models",
    "bfloat16": "use float16 or float32: NumPy has no such dtype",
    "compat.v1": "of graphs there is what reads and prepares data; train with Keras, JAX or PyTorch",
    "config": "records and images are worked on by processors, and no such setting changes results",
    "data": "the migration page says what is here",
    "data.experimental": "the migration page says what is here",
    "data.experimental.Reducer": "use Dataset.group_by_window, or Dataset.reduce for one key at a time",
    "data.experimental.SqlDataset": "read the rows with sqlite3 in Dataset.from_generator",
    "data.experimental.copy_to_device": "leave it out, or use recordmill's loaders for PyTorch and JAX",
    "data.experimental.group_by_reducer": "use Dataset.group_by_window, or Dataset.reduce for one key at a time",
    "data.experimental.prefetch_to_device": "use prefetch, or recordmill's loaders for PyTorch and JAX",
    "debugging": "use Python's debugger: functions run at once",
    "distribute": "use tf.distribute.get_strategy(), or Dataset.shard, and train with JAX or PyTorch",
    "errors": "catch tf.errors.OpError, of which all others are",
    "feature_column": "use Keras's preprocessing layers, and a dict of tf.io.FixedLenFeature to parse",
    "image": "compute it with NumPy or OpenCV in tf.numpy_function",
    "io.decode_json_example": "use json in tf.py_function, and tf.train.Example",
    "io.decode_proto": "use tf.train.Example.FromString in tf.py_function",
    "io.gfile": "use Python's pathlib or shutil",
    "profiler": "use Dataset.explain() to see what runs how, and Python's cProfile",
    "quantization": "quantize with the framework that trains",
    "queue": "use tf.data",
    "ragged": "use to_list() and Python, or to_tensor()",
    "raw_ops": "use the operation's public name",
    "saved_model": "save models with Keras: model.save",
    "signal": "use NumPy or SciPy in tf.numpy_function",
    "sparse": "use tf.sparse.to_dense",
    "strings": "use Python's bytes in tf.py_function, and tf.lookup.StaticHashTable for words as numbers",
    "summary": "write logs with torch.utils.tensorboard or tensorboardX, or a callback of Keras",
    "sysconfig": "there is no library to link with",
    "train": "use tf.keras.optimizers, and model.save or callbacks.ModelCheckpoint for checkpoints",
    "types": "use tf.Tensor and Python's types",
    "xla": "there is no compiler",
}
