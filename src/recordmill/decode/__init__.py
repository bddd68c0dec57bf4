"""From the bytes of a feature to arrays: what is wanted, which draws it takes, and who carries it out."""
