"""Decode columns to outputs: one module for each kind of spec."""
