"""Background threads, worker threads and worker processes. They do not depend on records, images or datasets.

`prefetch` advances one iterator in a thread, and `threads` maps a function over inputs in threads. `thread_pool` and
`process_pool` compute numbered tasks ahead of a consumer.
"""
