"""ir_measures, through its default providers."""

from __future__ import annotations

from typing import ClassVar

from rankadapters.core.measures import AP, NDCG, RR
from rankadapters.core.presets.tool import Tool, flag, from_level, measure
from rankadapters.core.presets.trec_eval import trec_eval_9

_OPTIONS = r"(\((rel=(?P<rel>\d+))?(, ?)?(judged_only=(?P<judged_only>True))?\))?"


class IrMeasures(Tool):
    """ir_measures 0.4 `nDCG@k` through pytrec_eval. Run with 0.4.3: equal to 1e-9.

    Its `dcg="exp-log2"` gives linear gains through pytrec_eval all the same.
    """

    name: ClassVar[str] = "ir_measures"
    patterns: ClassVar[dict[str, str]] = {
        r"nDCG(@(?P<k>[1-9]\d*))?": "",
        rf"AP{_OPTIONS}(@(?P<k>[1-9]\d*))?": "ap",
        rf"RR{_OPTIONS}": "rr",
        rf"RR{_OPTIONS}@(?P<k>[1-9]\d*)": "rr_cut",
    }

    def __call__(self, k: int | None) -> NDCG:
        """Give `nDCG@k`; None is `nDCG`."""
        return trec_eval_9(k).named(self.name)

    @measure
    def ap(self, k: int | None, *, rel: int = 1, judged_only: bool = False) -> AP:
        """`AP(rel=)@k` through pytrec_eval. Run with 0.4.3: equal to 1e-9.

        Parameters
        ----------
        k : int or None
            The cutoff; None is `AP`.
        rel : int
            The least grade that is relevant.
        judged_only : bool
            Whether unjudged documents leave the ranking first; a query of which nothing is left counts 0.
        """
        found = trec_eval_9.map_cut(k).named("ir_measures.ap").replace(relevant=from_level("rel", rel))
        return found.replace(unjudged="drop", missing="zero") if flag("judged_only", judged_only) else found

    @measure
    def rr(self, *, rel: int = 1, judged_only: bool = False) -> RR:
        """`RR(rel=)` through pytrec_eval. Run with 0.4.3: equal to 1e-9; options as of `ap`."""
        found = trec_eval_9.recip_rank().named("ir_measures.rr").replace(relevant=from_level("rel", rel))
        return found.replace(unjudged="drop", missing="zero") if flag("judged_only", judged_only) else found

    @measure
    def rr_cut(self, k: int | None, *, rel: int = 1, judged_only: bool = False) -> RR:
        """`RR(rel=)@k` through MS MARCO's script: ties by ascending docid, scores in float64. Run: equal to 1e-9."""
        base = trec_eval_9.recip_rank().replace(k=k, ties="docid-ascending", precision="float64")
        found = base.named("ir_measures.rr_cut").replace(relevant=from_level("rel", rel))
        return found.replace(unjudged="drop", missing="zero") if flag("judged_only", judged_only) else found


ir_measures = IrMeasures()
