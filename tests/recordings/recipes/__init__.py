"""The steps behind the make_*.py and check_*.py scripts, one subject per module."""
