"""Values that say how features become arrays; they check themselves and do nothing else."""
