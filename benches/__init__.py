"""Benchmarks of recordmill and other libraries: same data, alternating rounds, checked results."""
