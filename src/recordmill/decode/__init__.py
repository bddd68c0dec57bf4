"""Decode features of records to arrays. Has the public specs, plans of whole batches, and functions for one image."""
