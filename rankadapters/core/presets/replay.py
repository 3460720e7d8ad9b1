"""The library RePlay."""

from __future__ import annotations

from typing import ClassVar, Literal

from rankadapters.core.measures import NDCG
from rankadapters.core.presets.tool import Tool, one_of


class Replay(Tool):
    """RePlay `NDCG`, metrics/ndcg.py. Run with replay-rec 0.22.0 on pandas, polars and dicts: equal to 1e-12.

    Every row of the ground truth is relevant. What holds the data decides: in frames a user without ground truth is
    left out and equal ratings stand by descending item id; in dicts such a user counts 0 and lists keep their order.
    """

    name: ClassVar[str] = "replay"

    def __call__(self, k: int | None, *, container: Literal["frame", "dict"] = "frame") -> NDCG:
        """Give `NDCG@k` at a cutoff.

        Parameters
        ----------
        k : int or None
            Its cutoff.
        container : {'frame', 'dict'}
            What holds recommendations and ground truth.
        """
        found = NDCG(
            k=k, gain="linear", discount="log2", ideal="cutoff", ties="docid-descending", precision="float64",
            short="pad", empty="skip", missing="zero", unjudged="zero", average="uniform",
        ).named(self.name)  # fmt: skip
        changes = {"frame": {}, "dict": {"ties": "input", "empty": 0}}
        return found.replace(**one_of("container", container, changes))


replay = Replay()
