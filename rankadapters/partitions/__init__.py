"""What Dask and Spark share: what is asked of a frame, what a partition gives, and how the parts become Scores."""

from __future__ import annotations

from rankadapters.partitions.asked import IDS_UP_TO, Asked, FrameKeywords, Partitions
from rankadapters.partitions.evaluation import Frame, PerQuery, evaluate, only, per_query
from rankadapters.partitions.jobs import Columns, values

__all__ = [
    "IDS_UP_TO",
    "Asked",
    "Columns",
    "Frame",
    "FrameKeywords",
    "Partitions",
    "PerQuery",
    "evaluate",
    "only",
    "per_query",
    "values",
]
