"""Storage backends: list, read and write files. Local files today; formats are not known here."""
