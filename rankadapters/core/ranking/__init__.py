"""Ranks of rows within their queries: in numpy, and compiled by numba where much is ranked."""
