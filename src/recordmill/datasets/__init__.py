"""Shard names, manifests, writer locks and commit journals of datasets."""
