"""The definition, tied to no program."""

from __future__ import annotations

from typing import ClassVar

from rankadapters.core.measures import NDCG
from rankadapters.core.presets.tool import Tool


class Textbook(Tool):
    """The definition in Busa-Fekete et al. (2012), Section 2, tied to no program.

    Exponential gain, logarithmic discount, ideal list cut at k, 0 for a query with nothing relevant. The paper fixes
    no order of ties, so they are averaged.

    >>> textbook(10).name
    'ndcg@10/textbook'
    """

    name: ClassVar[str] = "textbook"

    def __call__(self, k: int | None) -> NDCG:
        """Give NDCG at a cutoff."""
        return NDCG(
            k=k, gain="exp2", discount="log2", ideal="cutoff", ties="average", precision="float64",
            short="pad", empty=0, missing="error", unjudged="error", average="uniform",
        ).named(self.name)  # fmt: skip


textbook = Textbook()
