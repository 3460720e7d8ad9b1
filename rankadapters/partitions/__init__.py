"""What Dask and Spark share: what is asked of a frame, what a partition gives, and how the parts become Scores."""

from __future__ import annotations

from rankadapters.partitions.asked import IDS_UP_TO, Asked, FrameKeywords, Partitions
from rankadapters.partitions.evaluation import Frame, PerQuery, evaluate, only, per_query
from rankadapters.partitions.jobs import NO_IDS, Columns, Part, Sums, values
from rankadapters.partitions.rows import FrameRows

__all__ = [
    "IDS_UP_TO",
    "NO_IDS",
    "Asked",
    "Columns",
    "Frame",
    "FrameKeywords",
    "FrameRows",
    "Part",
    "Partitions",
    "PerQuery",
    "Sums",
    "evaluate",
    "only",
    "per_query",
    "values",
]
