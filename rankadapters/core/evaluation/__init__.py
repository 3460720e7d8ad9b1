"""Conventions bound to queries, applied to scores: evaluators, panels, scores and tallies."""
