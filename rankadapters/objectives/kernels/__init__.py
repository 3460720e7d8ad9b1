"""Compiled functions that compute gradients."""
