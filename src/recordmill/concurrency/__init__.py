"""Background threads, worker threads and worker processes. They know nothing of records, images and datasets.

`prefetch` advances one iterator in a thread, and `threads` maps a function over inputs in threads. `thread_pool` and
`process_pool` compute numbered tasks ahead of a consumer.
"""
