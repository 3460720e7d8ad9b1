"""What Dask and Spark share: what is asked of a frame, what a partition gives, and how the parts become Scores."""
