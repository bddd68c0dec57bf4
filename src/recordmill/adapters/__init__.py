"""Batches in the hands of a framework: one folder for each, imported when it is asked for."""
