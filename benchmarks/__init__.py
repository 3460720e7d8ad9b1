"""Speed and memory side by side with the toolkits' own code, in one run: `python -m benchmarks`."""
