"""Probe a function: generate cases, collect its answers, and find the conventions or mistakes that fit them."""
