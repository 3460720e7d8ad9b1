"""A small grid of NDCG: some choices of each field."""

from __future__ import annotations

GRID = {
    "gain": ("exp2", "linear"), "discount": ("log2", "jk2"), "ideal": ("cutoff", "ones"), "ties": ("input", "average"),
    "precision": ("float64", "float32"), "short": ("pad", "skip"), "missing": ("zero",), "unjudged": ("zero",),
    "empty": (0.0, 0.5, "skip"), "average": ("uniform", "query"),
}  # fmt: skip
