"""Compiled functions that compute gradients."""

LANES = 4  # numbers in a vector of `lanes`
