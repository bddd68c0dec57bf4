"""Bytes from somewhere: files now, object stores later; knows no format."""
