"""Groups of results whose digests `tools/record_behavior.py` computes."""
