"""Segments of queries: one Score for each segment and one for all."""
