"""The metric core: numpy and numba only, no toolkit. `tests/oracles/` says in plain Python what it computes."""
