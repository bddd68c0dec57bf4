"""``tensorflow.core.example``: where scripts find the messages of records by the names of their files."""
