"""Bound conventions meet scores: evaluators, panels, scores and tallies."""
