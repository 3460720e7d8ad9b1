"""Probe a function to find out which convention it computes."""
