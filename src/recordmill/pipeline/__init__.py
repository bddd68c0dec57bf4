"""From examples to batches; sees a source of examples and knows no format and no framework."""
