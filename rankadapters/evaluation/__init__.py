"""Conventions bound to queries, applied to scores: evaluators, scores and tallies."""
