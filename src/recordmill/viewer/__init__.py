"""Viewer: a local web page that shows the records of a dataset."""
