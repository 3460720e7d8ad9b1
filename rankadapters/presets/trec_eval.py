"""Three versions of trec_eval, pytrec_eval, which wraps version 9, and trectools."""

from __future__ import annotations

from typing import ClassVar

from rankadapters.core.measures import AP, NDCG, RBP, RR, Bpref, FMeasure, Precision, Recall, RPrecision, Success
from rankadapters.presets.tool import K, Options, Tool, if_true, least_grade, preset, same_as

GEOMETRIC = "geometric_1e-05"


class TrecEval9(
    Tool, name="trec_eval_9", versions=("9.0.8",), evidence="run 9.0.8", discount="log2", ideal="cutoff",
    relevant="from_1", ties="docid-descending", precision="float32", retrieve="all", short="pad", empty=0,
    missing="skip", unjudged="zero", pool="queries", average="uniform",
):  # fmt: skip
    """trec_eval 9.0.x `ndcg_cut` and `ndcg`, m_ndcg_cut.c. Run against 9.0.8: equal to the four printed decimals.

    Scores are rounded to float32, and ties are ordered by descending docid. Labels below 0 have gain 0, and bpref takes
    them for unjudged. Every measure accepts `complete`, the program's `-c`: judged queries without retrieved documents
    count 0 instead of being left out. It also accepts `judged_only`, the program's `-J`: documents that are unjudged or
    have a label below 0 are dropped before ranking.

    Parameters
    ----------
    complete
        `-c`.
    judged_only
        `-J`.
    level
        `-l`: the lowest relevant grade.
    x
        trec_eval's parameter: the square of beta, the weight of recall.
    """

    options: ClassVar[Options] = {
        "level": least_grade("relevant"),
        "complete": if_true(missing="zero"),
        "judged_only": if_true(unjudged="drop-negative"),
        "x": same_as("beta_squared"),
    }

    @preset(NDCG, rf"ndcg(_cut[_.]{K})?", gain="linear-positive")
    def __call__(self, k: int | None, *, complete: bool = False, judged_only: bool = False) -> NDCG:
        """Return `ndcg_cut` at a cutoff, or `ndcg`."""

    @preset(AP, rf"map_cut[_.]{K}", divisor="relevant")
    def map_cut(self, k: int | None, *, level: int = 1, complete: bool = False, judged_only: bool = False) -> AP:
        """`map_cut_k`, m_map_cut.c: AP at cutoff k, divided by all relevant rows. Run: same printout."""

    @preset(AP, "map", k=None, divisor="relevant")
    def map(self, *, level: int = 1, complete: bool = False, judged_only: bool = False) -> AP:
        """`map`, m_map.c. Run: same printout."""

    @preset(AP, "gm_map", k=None, divisor="relevant", average=GEOMETRIC)
    def gm_map(self, *, level: int = 1, complete: bool = False, judged_only: bool = False) -> AP:
        """`gm_map`, m_gm_map.c: the geometric mean of max(value, 1e-5). Run: same printout."""

    @preset(RR, "recip_rank", k=None)
    def recip_rank(self, *, level: int = 1, complete: bool = False, judged_only: bool = False) -> RR:
        """`recip_rank`, m_recip_rank.c. Run: same printout."""

    @preset(Precision, rf"P[_.]{K}", divisor="k")
    def P(self, k: int | None, *, level: int = 1, complete: bool = False, judged_only: bool = False) -> Precision:
        """`P_k`, m_P.c. Run: same printout."""

    @preset(Precision, rf"relative_P[_.]{K}", divisor="relevant")
    def relative_P(
        self, k: int | None, *, level: int = 1, complete: bool = False, judged_only: bool = False
    ) -> Precision:
        """`relative_P_k`, m_relative_P.c: divided by min(k, R). Run: same printout."""

    @preset(Precision, "set_P", k=None, divisor="retrieved")
    def set_P(self, *, level: int = 1, complete: bool = False, judged_only: bool = False) -> Precision:
        """`set_P`, m_set_P.c: over all retrieved rows. Run: same printout."""

    @preset(Precision, "set_relative_P", k=None, divisor="relevant")
    def set_relative_P(self, *, level: int = 1, complete: bool = False, judged_only: bool = False) -> Precision:
        """`set_relative_P`, m_set_rel_P.c: divided by min(n, R). Run: same printout."""

    @preset(Recall, rf"recall[_.]{K}")
    def recall(self, k: int | None, *, level: int = 1, complete: bool = False, judged_only: bool = False) -> Recall:
        """`recall_k`, m_recall.c. Run: same printout."""

    @preset(Recall, "set_recall", k=None)
    def set_recall(self, *, level: int = 1, complete: bool = False, judged_only: bool = False) -> Recall:
        """`set_recall`, m_set_recall.c: over all retrieved rows. Run: same printout."""

    @preset(Success, rf"success[_.]{K}")
    def success(self, k: int | None, *, level: int = 1, complete: bool = False, judged_only: bool = False) -> Success:
        """`success_k`, m_success.c. Run: same printout."""

    @preset(RPrecision, "Rprec")
    def Rprec(self, *, level: int = 1, complete: bool = False, judged_only: bool = False) -> RPrecision:
        """`Rprec`, m_Rprec.c. Run: same printout."""

    @preset(Bpref, "bpref")
    def bpref(self, *, level: int = 1, complete: bool = False, judged_only: bool = False) -> Bpref:
        """`bpref`, m_bpref.c. Run: same printout."""

    @preset(Bpref, "gm_bpref", average=GEOMETRIC)
    def gm_bpref(self, *, level: int = 1, complete: bool = False, judged_only: bool = False) -> Bpref:
        """`gm_bpref`, m_gm_bpref.c: the geometric mean of max(value, 1e-5). Run: same printout."""

    @preset(FMeasure, r"set_F([_.](?P<x>\d+(\.\d+)?))?", k=None, divisor="retrieved", beta_squared=1)
    def set_F(self, *, x: float = 1, level: int = 1, complete: bool = False, judged_only: bool = False) -> FMeasure:
        """`set_F.x`, m_set_F.c, over all retrieved rows; x is beta squared. Run: same printout."""


class TrecEval10(
    TrecEval9, name="trec_eval_10", versions=("10.0-rc3",), evidence="run 10.0-rc3", precision="float64",
    missing="error",
):  # fmt: skip
    """trec_eval 10.0 `ndcg_cut` and `ndcg`. Run against 10.0-rc3: equal to the four printed decimals.

    It differs from trec_eval 9 in two ways: scores are in float64, so that fewer scores tie, and without `-c` the
    program stops if a judged query has no results ("result qid not found in qrels").
    """


class PytrecEval(
    TrecEval9, name="pytrec_eval", package="pytrec-eval-terrier", versions=("0.5.11",), evidence="run 0.5.11"
):
    """pytrec_eval 0.5 `ndcg_cut` and `ndcg`, as in trec_eval 9. Run against pytrec_eval-terrier 0.5.11: within 1e-9.

    Queries that are absent from the run are left out. A query whose run is empty (`run["q"] = {}`) counts 0: if no
    query is absent, that is `complete=True`, otherwise see `inexpressible`. `judged_only` is `judged_docs_only_flag`.
    Asked for many measures at once, pytrec_eval crashes at an empty run and at a query with negative labels only.
    """


class TrecEval8(
    Tool, name="trec_eval_8", versions=("8.1",), evidence="run 8.1", gain="linear", discount="log2", ideal="cutoff",
    ties="docid-descending", precision="float32", short="pad", empty=0, missing="skip", unjudged="zero",
    average="uniform",
):  # fmt: skip
    """trec_eval 8.1 with the NDCG patch of 2008. Run against 8.1: equal to the four printed decimals.

    Without the patch there is no NDCG. Gains are the labels; qrels rewritten to 2^label - 1 are `replace(gain="exp2")`.

    Parameters
    ----------
    complete
        `-c`: judged queries without retrieved documents count 0 instead of being left out.
    """

    options: ClassVar[Options] = {"complete": if_true(missing="zero")}

    @preset(NDCG)
    def __call__(self, k: int | None, *, complete: bool = False) -> NDCG:
        """Return NDCG at a cutoff."""


class TrecTools(
    Tool, name="trectools", package="trectools", versions=("0.0.50",), evidence="run 0.0.50", discount="log2",
    ideal="cutoff", relevant="above_0", ties="docid-descending", precision="float64", retrieve="all", short="pad",
    empty=0, missing="skip", unjudged="zero", pool="queries", average="uniform",
):  # fmt: skip
    """trectools `TrecEval.get_ndcg(depth)`, trec_eval.py; k is its `depth`. Run against 0.0.50: equal within 1e-9.

    Unlike trec_eval, it computes in float64 and counts every query of the run, also one without judgments. NDCG and RBP
    rank a run in the order of `TrecRun(filename)`, by score and ascending docid; the other measures order ties by
    descending docid, unless `trec_eval=False`, which is `replace(ties="docid-ascending")` and, for NDCG,
    `replace(gain="exp2")`. `removeUnjudged` is `replace(unjudged="drop-negative")`. For `get_bpref` and
    `get_geometric_map` see `inexpressible`.

    Parameters
    ----------
    p
        The persistence.
    """

    options: ClassVar[Options] = {"p": same_as("persistence")}

    @preset(NDCG, rf"NDCG[_@]{K}", gain="linear-positive", ties="docid-ascending")
    def __call__(self, k: int | None) -> NDCG:
        """Return `get_ndcg` at a depth."""

    @preset(AP, rf"map|MAP@{K}", default_k=10_000, divisor="relevant")
    def map(self, k: int | None) -> AP:
        """`get_map`, divided by R. Run: equal within 1e-9."""

    @preset(RR, rf"recip_rank(@{K})?", default_k=1000)
    def reciprocal_rank(self, k: int | None) -> RR:
        """`get_reciprocal_rank`; its `removeUnjudged` has no effect. Run: equal within 1e-9."""

    @preset(RPrecision, "Rprec")
    def rprec(self) -> RPrecision:
        """`get_rprec`, for up to 1000 relevant documents. Run: equal within 1e-9 under pandas 2; 3 mixes queries up.

        It refuses a run with a query that has no judgments, and its `removeUnjudged` has no effect.
        """

    @preset(Precision, rf"P[_@]{K}", divisor="k")
    def precision(self, k: int | None) -> Precision:
        """`get_precision`. Run: equal within 1e-9."""

    @preset(Recall, rf"R[_@]{K}")
    def recall(self, k: int | None) -> Recall:
        """`get_recall`. Run: equal within 1e-9."""

    @preset(RBP, rf"RBP\((?P<p>0?\.\d+)\)@{K}", gain="from_1", ties="average", persistence=0.8)
    def rbp(self, k: int | None, *, p: float = 0.8) -> RBP:
        """`get_rbp`, its first value. Run: equal within 1e-9, if no tie crosses the depth: see `inexpressible`.

        Labels are whole numbers. `binary_topical_relevance=False` is `replace(gain="linear-positive")`,
        `average_ties=False` is `replace(ties="docid-ascending")`.
        """


trec_eval_8, trec_eval_9, trec_eval_10, pytrec_eval = TrecEval8(), TrecEval9(), TrecEval10(), PytrecEval()
trectools = TrecTools()
