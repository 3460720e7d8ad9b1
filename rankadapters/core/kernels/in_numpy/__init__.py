"""The numpy form of every kernel of evaluation: same module, same name, same arrays, same bits; no numba.

What a kernel adds up from left to right is added up in that order here: `numpy.bincount` and `accumulate` go from left
to right, `sum` and `add.reduceat` do not.
"""
