"""Kernels in numpy, for computations whose Python loops take too long: sorting, gathering and the main measures.

They take the same arguments as the kernels of the same name, and results are bit-identical.

To add up from left to right, as kernels do, they use `numpy.bincount` and `accumulate`; `sum` and `add.reduceat` add up
in a different order.
"""
