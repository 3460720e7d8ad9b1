"""The library implicit."""

from __future__ import annotations

from typing import ClassVar

from rankadapters.core.measures import NDCG
from rankadapters.core.presets.tool import Tool


class Implicit(Tool):
    """The library implicit: `ndcg_at_k`, evaluation.pyx. Run with 0.7.3: equal to 1e-9 where no tie crosses the cut.

    Every stored entry of the test matrix is relevant, a stored 0 too. Users without one are left out. With K above the
    number of items it counts item 0 again and again, which no convention does.
    """

    name: ClassVar[str] = "implicit"

    def __call__(self, k: int | None) -> NDCG:
        """Give `ndcg_at_k` at a cutoff."""
        return NDCG(
            k=k, gain="linear", discount="log2", ideal="cutoff", ties="docid-descending", precision="float32",
            short="pad", empty="skip", missing="zero", unjudged="zero", average="uniform",
        ).named(self.name)  # fmt: skip


implicit = Implicit()
