"""A convention and its queries become arrays: gains, orders of ties, ideal lists, policies."""
