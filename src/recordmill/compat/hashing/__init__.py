"""Hashes of byte strings that are fixed for ever, so that names become the same numbers everywhere.

`farm` is FarmHash's fingerprint, `murmur` MurmurHash64A, `sip` SipHash with a key. Each gives 64 bits for each string
of a sequence; strings of one length are worked on together.
"""
