"""Decode features of records to arrays: public specs, plans for whole batches, and functions for single images."""
