"""Decode features of records to arrays: public specs, plans of whole batches, and functions for single images."""
