"""Probe a function: generate cases, collect the answers, and find the conventions or mistakes that fit them."""
