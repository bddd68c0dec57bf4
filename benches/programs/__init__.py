"""Typical user programs, as functions whose first argument is the framework module that the program imports.

Each function runs with the original framework and with `recordmill.compat`, so that the same program is compared, not
a translation of it.
"""
