"""Tools whose only measure here is NDCG."""

from __future__ import annotations

from typing import ClassVar, Literal

from rankadapters.core.measures import NDCG
from rankadapters.presets.tool import Options, Tool, choice, preset


class Textbook(
    Tool, name="textbook", versions=("2012",), evidence="read", gain="exp2", discount="log2", ideal="cutoff",
    ties="average", precision="float64", short="pad", empty=0, missing="error", unjudged="error", average="uniform",
):  # fmt: skip
    """The definition in Busa-Fekete et al. (2012), Section 2, independent of any program.

    Exponential gain, logarithmic discount, ideal list cut at k, 0 for a query without relevant rows. The paper fixes
    no order of ties, so they are averaged.

    >>> textbook(10).name
    'ndcg@10/textbook'
    """


class RankEval(
    Tool, name="rankeval", package="rankeval", versions=("0.8.2",), evidence="run 0.8.2", gain="exp2", discount="log2",
    ideal="cutoff", ties="reverse", precision="float64", short="pad", empty=1, missing="error", unjudged="error",
    average="uniform",
):  # fmt: skip
    """RankEval `NDCG(cutoff=k)`, metrics/ndcg.py and dcg.py. Run against 0.8.2: equal within 1e-7.

    Scores are ranked by a reversed argsort. Ties come in reverse order where numpy's default sort is stable: on
    processors without AVX2, in queries of up to 16 rows; see `inexpressible`. Ideal DCGs and values
    are rounded to float32. `no_relevant_results` is 1 by default, and `implementation="flat"` is
    `replace(gain="linear")`.
    """


class AllRank140(
    Tool, name="allrank_1_4_0", package="allrank", versions=("1.4.0",), evidence="run 1.4.0", gain="exp2",
    discount="log2", ideal="cutoff", ties="average", precision="float32", short="pad", empty=0, missing="error",
    unjudged="error", average="uniform",
):  # fmt: skip
    """The library allRank up to 1.4.0 (2019 to March 2021): `ndcg`, models/metrics.py.

    Scores are float32. torch's sort does not guarantee an order of ties, so this preset averages them. Run with torch
    2.15 on a CPU, tied rows keep their order, and `replace(ties="input")` is equal within 1e-6. allRank treats rows
    with label -1 as padding: leave them out.
    """


class AllRank141(
    AllRank140, name="allrank_1_4_1", versions=("1.4.1", "1.4.3"), evidence="run 1.4.1", ties="input", empty=1
):
    """The library allRank from 1.4.1 on (March 2021): `ndcg`, models/metrics.py, at commit 79b5d32; also `allrank`.

    A query without a relevant row counts 1, its `filler_value`; before 1.4.1 it counted 0. Run against 1.4.1 under
    torch 2.15 and 1.4.3 under torch 2.13, on a CPU: equal within 1e-6, per query and in the mean; tied rows keep their
    order, which torch does not guarantee. allRank treats rows with label -1 as padding: leave them out.
    """


class Spark(
    Tool, name="spark", package="pyspark", versions=("4.3.0",), evidence="run 4.3.0", gain="exp2", discount="log2",
    ideal="cutoff", ties="input", precision="float64", short="pad", empty=0, missing="zero", unjudged="zero",
    average="uniform",
):  # fmt: skip
    """Spark MLlib `RankingMetrics.ndcgAt` of relevant ids, RankingMetrics.scala. Run against 4.3.0: equal within 1e-12.

    Every id of the ground truth is relevant; a user without ground truth or without predictions counts 0. Called from
    Python, relevance values have no effect (run: 4.3.0); for Scala see `inexpressible`.
    """


class Replay(
    Tool, name="replay", package="replay-rec", versions=("0.22.0",), evidence="run 0.22.0", gain="linear",
    discount="log2", ideal="cutoff", ties="docid-descending", precision="float64", short="pad", empty="skip",
    missing="zero", unjudged="zero", average="uniform",
):  # fmt: skip
    """RePlay `NDCG`, metrics/ndcg.py. Run against replay-rec 0.22.0 on pandas, polars and dicts: equal within 1e-12.

    Every row of the ground truth is relevant. For data frames, RePlay leaves out users without ground truth and orders
    ties by descending item id; for dicts, it counts such users as 0 and keeps the order of lists.

    Parameters
    ----------
    container
        Type of the recommendations and of the ground truth.
    """

    options: ClassVar[Options] = {"container": choice({"frame": {}, "dict": {"ties": "input", "empty": 0}})}

    @preset(NDCG)
    def __call__(self, k: int | None, *, container: Literal["frame", "dict"] = "frame") -> NDCG:
        """Return `NDCG@k` at a cutoff."""


class Cornac(
    Tool, name="cornac", package="cornac", versions=("3.0.1",), evidence="run 3.0.1", gain="exp2", discount="log2",
    ideal="cutoff", ties="docid-descending", precision="float64", short="pad", empty="skip", missing="zero",
    unjudged="zero", average="uniform",
):  # fmt: skip
    """The library Cornac: `NDCG` of `ranking_eval`, metrics/ranking.py. Run against 3.0.1: equal within 1e-12.

    Ratings of at least `rating_threshold` are relevant; use labels 0 and 1. Users without a relevant item are left out.
    Ties are ordered by descending item index, but Cornac guarantees no order for a tie that crosses the cutoff.
    """


class MLflow(
    Tool, name="mlflow", package="mlflow-skinny", versions=("3.17.2",), evidence="run 3.17.2", gain="linear",
    discount="log2", ideal="retrieved", ties="input", precision="float64", short="pad", empty=0, missing="zero",
    unjudged="zero", average="uniform",
):  # fmt: skip
    """MLflow `ndcg_at_k`, metrics/metric_definitions.py, the mean. Run against 3.17.2: equal within 1e-12.

    Items are relevant or not. The ideal list is cut at the number of items retrieved. A query with neither relevant nor
    retrieved items counts 1 in MLflow and 0 here. MLflow has deprecated the metric since 3.4.
    """


class Implicit(
    Tool, name="implicit", package="implicit", versions=("0.7.3",), evidence="run 0.7.3", gain="linear",
    discount="log2", ideal="cutoff", ties="docid-descending", precision="float32", short="pad", empty="skip",
    missing="zero", unjudged="zero", average="uniform",
):  # fmt: skip
    """implicit `ndcg_at_k`, evaluation.pyx. Run against 0.7.3: equal within 1e-9 if no tie crosses the cutoff.

    Every stored entry of the test matrix is relevant, even a stored 0. Users without entries are left out. If K exceeds
    the number of items, implicit counts item 0 repeatedly, which no convention can express.
    """


class LensKit2025(
    Tool, name="lenskit_2025", package="lenskit", versions=("2025.8.1",), evidence="run 2025.8.1", gain="linear",
    discount="jk2", ideal="cutoff", ties="input", precision="float64", short="pad", empty=0, missing="skip",
    unjudged="zero", average="uniform",
):  # fmt: skip
    """LensKit up to 2025.8.1: `NDCG`, ranking/_dcg.py, `list_summary`. Run against 2025.8.1: equal within 1e-12.

    Users without recommendations are left out; users with an empty list count 0, which is `replace(missing="zero")`. By
    default the gain of every test item is 1: give it label 1. With `gain="rating"` the gain is the rating, even if
    negative. `LogRankWeight(offset=1)` is `replace(discount="log2")`. `global_metrics()` is NaN if a query is empty.
    """


class LensKit2026(
    LensKit2025, name="lenskit_2026", versions=("2026.1.0", "2026.4.0"), evidence="run 2026.4.0",
    gain="linear-positive", empty="skip",
):  # fmt: skip
    """LensKit from 2026.1 on, also named `lenskit`: `NDCG`, ranking/_dcg.py. Run against 2026.4.0: equal within 1e-12.

    Users without test items or without recommendations are left out; users with an empty list count 0, which is
    `replace(missing="zero")`. By default the gain of every test item is 1: give it label 1. With `gain="rating"` the
    gain is the rating, or 0 if it is negative, and a user whose gains are all 0 counts 0. If every user has test items,
    that is `replace(empty=0)`; otherwise see `inexpressible`. `LogRankWeight(offset=1)` is `replace(discount="log2")`.
    """


textbook, rankeval, allrank_1_4_0, allrank_1_4_1, spark = Textbook(), RankEval(), AllRank140(), AllRank141(), Spark()
replay, cornac, mlflow, implicit = Replay(), Cornac(), MLflow(), Implicit()
lenskit_2025, lenskit_2026 = LensKit2025(), LensKit2026()
