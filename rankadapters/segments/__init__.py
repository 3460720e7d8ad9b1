"""Evaluate segments of queries: one Score for each segment and one for all queries."""
