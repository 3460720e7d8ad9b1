"""The parts of Dask and Spark evaluation that do not depend on the engine: arguments, partition jobs, and merging."""
