"""Probing: which convention a function computes."""
