"""Learned policies: what a claim's words are worth in a search, read off a tuned encoder."""
