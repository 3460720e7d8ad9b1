"""Four rows of two queries, which tests change to bad input."""

from __future__ import annotations

import rankadapters as ra

CONV = ra.presets.textbook(3)
LABELS, SCORES, QID = [1, 0, 2, 0], [0.1, 0.4, 0.3, 0.2], ["a", "a", "b", "b"]
WEIGHTED = CONV.replace(average="query")
