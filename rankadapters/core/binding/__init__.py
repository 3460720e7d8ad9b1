"""Turn a convention and its queries into arrays: gains, orders of ties, ideal lists, policy decisions."""
