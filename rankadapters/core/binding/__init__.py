"""Turn conventions and queries into arrays: gains, orders of tied rows, ideal lists, policy decisions."""
