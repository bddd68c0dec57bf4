"""Programs as people wrote them, each a function of the module that their import line names.

The same function runs with the real framework and with `recordmill.compat`: what is compared is the program, not a
translation of it.
"""
