"""Decode the features of records to arrays: specs, the compiled plan of a batch, and functions for single images."""
