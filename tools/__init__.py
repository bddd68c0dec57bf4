"""Scripts for developers, run as `python -m tools.NAME`."""
