"""What happens to samples and batches on their way; one file for each stage."""
