"""The metric core: numpy and numba only, no toolkit. Start reading at `definition`."""
