"""One module per contender; each imports what it measures only when it is run, in an environment of its own."""
