"""Kernels in numpy, where loops in Python take too long: what sorts, gathers or hashes, and the measures used most.

They take the same arguments as the kernels that name them, and give the same bits.

What a kernel adds up from left to right is added up in that order here: `numpy.bincount` and `accumulate` go from left
to right, `sum` and `add.reduceat` do not.
"""
