"""Measures recordmill against its peers: same data, alternating rounds, results compared before they count."""
