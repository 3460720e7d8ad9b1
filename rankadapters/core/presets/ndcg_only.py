"""Tools that have NDCG alone."""

from __future__ import annotations

from typing import ClassVar, Literal

from rankadapters.core.measures import NDCG
from rankadapters.core.presets.options import Choice, Options
from rankadapters.core.presets.preset import preset
from rankadapters.core.presets.tool import Tool


class Textbook(
    Tool, name="textbook", versions=("2012",), evidence="read", gain="exp2", discount="log2", ideal="cutoff",
    ties="average", precision="float64", short="pad", empty=0, missing="error", unjudged="error", average="uniform",
):  # fmt: skip
    """The definition in Busa-Fekete et al. (2012), Section 2, tied to no program.

    Exponential gain, logarithmic discount, ideal list cut at k, 0 for a query with nothing relevant. The paper fixes
    no order of ties, so they are averaged.

    >>> textbook(10).name
    'ndcg@10/textbook'
    """


class RankEval(
    Tool, name="rankeval", package="rankeval", versions=("0.8.2",), evidence="run", gain="exp2", discount="log2",
    ideal="cutoff", ties="reverse", precision="float64", short="pad", empty=1, missing="error", unjudged="error",
    average="uniform",
):  # fmt: skip
    """RankEval `NDCG(cutoff=k)`, metrics/ndcg.py and dcg.py. Run with 0.8.2: the same in each of 614 queries.

    Scores are ranked by a reversed argsort, which turns ties round where the sort happens to be stable: in queries of
    up to 16 rows; see `inexpressible` for longer ones. Ideal DCGs are float32. `no_relevant_results` is 1 by default;
    `implementation="flat"` is `replace(gain="linear")`.
    """


class AllRank(
    Tool, name="allrank", package="allrank", versions=("1.4.0",), evidence="run", gain="exp2", discount="log2",
    ideal="cutoff", ties="average", precision="float32", short="pad", empty=0, missing="error", unjudged="error",
    average="uniform",
):  # fmt: skip
    """The library allRank up to 1.4.0 (2019 to March 2021): `ndcg`, models/metrics.py.

    Scores are float32, and torch's sort promises no order of ties, so they are averaged here. Run with torch 2.15 on a
    CPU, tied rows keep their order, and `replace(ties="input")` is equal to 1e-6. Rows with label -1 are padding there:
    leave them out. From 1.4.1 on it is `allrank_1_4_1`.
    """


class AllRank141(AllRank, name="allrank_1_4_1", versions=("1.4.1", "1.4.3"), evidence="run", ties="input", empty=1):
    """The library allRank from 1.4.1 on (March 2021): `ndcg`, models/metrics.py, at commit 79b5d32.

    A query without a relevant row counts 1, its `filler_value`, where it counted 0 before. Run with 1.4.1 under torch
    2.15 and 1.4.3 under torch 2.13, on a CPU: equal to 1e-6, per query and in the mean; tied rows keep their order,
    which torch does not promise. Rows with label -1 are padding there: leave them out.
    """


class Spark(
    Tool, name="spark", package="pyspark", versions=("4.3.0",), evidence="run", gain="exp2", discount="log2",
    ideal="cutoff", ties="input", precision="float64", short="pad", empty=0, missing="zero", unjudged="zero",
    average="uniform",
):  # fmt: skip
    """Spark MLlib `RankingMetrics.ndcgAt` of relevant ids, RankingMetrics.scala. Run with 4.3.0: equal to 1e-12.

    Every id of the ground truth is relevant; a user without ground truth or without predictions counts 0. From Python
    its relevance values do nothing (run: 4.3.0); from Scala they take the ideal list as given: see `inexpressible`.
    """


class Recommenders(
    Tool, name="recommenders", package="recommenders", versions=("1.2.1",), evidence="run", gain="linear",
    discount="log2", ideal="cutoff", ties="input", precision="float64", short="pad", empty="skip", missing="zero",
    unjudged="zero", average="uniform",
):  # fmt: skip
    """recommenders `ndcg_at_k`, evaluation/python_evaluation.py. Run with 1.2.1: equal to 1e-12.

    Users without ground truth, or of ideal DCG 0, are left out; users without predictions count 0. The default
    `score_type="binary"` counts every row of the ground truth as relevant, a rating of 0 too: give such rows label 1.
    The logarithm of `discfun_type` cancels. `relevancy_method=None`, which cuts nothing, is not this.
    """

    options: ClassVar[Options] = {"score_type": Choice({"binary": {}, "raw": {}, "exp": {"gain": "exp2"}})}

    @preset(NDCG)
    def __call__(self, k: int | None, *, score_type: Literal["binary", "raw", "exp"] = "binary") -> NDCG:
        """Give `ndcg_at_k` at a cutoff.

        Parameters
        ----------
        k : int or None
            Its cutoff.
        score_type : {'binary', 'raw', 'exp'}
            Gain of a rating: 1 of every row, the rating, or 2^rating - 1.
        """


class RecBole(
    Tool, name="recbole", package="recbole", versions=("1.2.1",), evidence="run", gain="linear", discount="log2",
    ideal="cutoff", ties="input", precision="float32", short="pad", empty=0, missing="zero", unjudged="zero",
    average="uniform",
):  # fmt: skip
    """The library RecBole: `NDCG`, evaluator/metrics.py. Run with 1.2.1: equal to 1e-9 before it rounds.

    It prints `metric_decimal_place` decimals, 4 by default. Items are relevant or not. torch.topk promises no order of
    ties; here they stand as given.
    """


class Replay(
    Tool, name="replay", package="replay-rec", versions=("0.22.0",), evidence="run", gain="linear", discount="log2",
    ideal="cutoff", ties="docid-descending", precision="float64", short="pad", empty="skip", missing="zero",
    unjudged="zero", average="uniform",
):  # fmt: skip
    """RePlay `NDCG`, metrics/ndcg.py. Run with replay-rec 0.22.0 on pandas, polars and dicts: equal to 1e-12.

    Every row of the ground truth is relevant. What holds the data decides: in frames a user without ground truth is
    left out and equal ratings stand by descending item id; in dicts such a user counts 0 and lists keep their order.
    """

    options: ClassVar[Options] = {"container": Choice({"frame": {}, "dict": {"ties": "input", "empty": 0}})}

    @preset(NDCG)
    def __call__(self, k: int | None, *, container: Literal["frame", "dict"] = "frame") -> NDCG:
        """Give `NDCG@k` at a cutoff.

        Parameters
        ----------
        k : int or None
            Its cutoff.
        container : {'frame', 'dict'}
            What holds recommendations and ground truth.
        """


class Cornac(
    Tool, name="cornac", package="cornac", versions=("3.0.1",), evidence="run", gain="exp2", discount="log2",
    ideal="cutoff", ties="docid-descending", precision="float64", short="pad", empty="skip", missing="zero",
    unjudged="zero", average="uniform",
):  # fmt: skip
    """The library Cornac: `NDCG` of `ranking_eval`, metrics/ranking.py. Run with 3.0.1: equal to 1e-12.

    Ratings from `rating_threshold` on are relevant: labels here are 0 and 1. Users without one are left out. Equal
    scores stand by descending item index; where they tie across the cut no order is promised.
    """


class MLflow(
    Tool, name="mlflow", package="mlflow-skinny", versions=("3.17.2",), evidence="run", gain="linear", discount="log2",
    ideal="retrieved", ties="input", precision="float64", short="pad", empty=0, missing="zero", unjudged="zero",
    average="uniform",
):  # fmt: skip
    """MLflow `ndcg_at_k`, metrics/metric_definitions.py, the mean. Run with 3.17.2: equal to 1e-12.

    Items are relevant or not. The ideal list is cut at the number of items retrieved. A query with neither relevant nor
    retrieved items counts 1 there and 0 here. Deprecated there since 3.4.
    """


class Implicit(
    Tool, name="implicit", package="implicit", versions=("0.7.3",), evidence="run", gain="linear", discount="log2",
    ideal="cutoff", ties="docid-descending", precision="float32", short="pad", empty="skip", missing="zero",
    unjudged="zero", average="uniform",
):  # fmt: skip
    """The library implicit: `ndcg_at_k`, evaluation.pyx. Run with 0.7.3: equal to 1e-9 where no tie crosses the cut.

    Every stored entry of the test matrix is relevant, a stored 0 too. Users without one are left out. With K above the
    number of items it counts item 0 again and again, which no convention does.
    """


class LensKit(
    Tool, name="lenskit", package="lenskit", versions=("2025.8.1",), evidence="run", gain="linear", discount="jk2",
    ideal="cutoff", ties="input", precision="float64", short="pad", empty=0, missing="skip", unjudged="zero",
    average="uniform",
):  # fmt: skip
    """LensKit up to 2025.8.1: `NDCG`, metrics/ranking/_dcg.py, `list_summary()`. Run with 2025.8.1: equal to 1e-12.

    Users without recommendations are left out; those with an empty list count 0, which is `replace(missing="zero")`. By
    default every test item gains 1: give it label 1; with `gain="rating"` it gains its rating, a negative one too.
    `LogRankWeight(offset=1)` is `replace(discount="log2")`. `global_metrics()` is nan where a query is empty. From
    2026.1 on it is `lenskit_2026`.
    """


class LensKit2026(
    LensKit, name="lenskit_2026", versions=("2026.1.0", "2026.4.0"), evidence="run", gain="linear-positive",
    empty="skip",
):  # fmt: skip
    """LensKit from 2026.1 on: `NDCG`, metrics/ranking/_dcg.py, `list_summary()`. Run with 2026.4.0: equal to 1e-12.

    Users without test items are left out, as are users without recommendations; those with an empty list count 0, which
    is `replace(missing="zero")`. By default every test item gains 1: give it label 1. With `gain="rating"` it gains its
    rating, a negative one 0, and a user whose test items all gain 0 counts 0, which is `replace(empty=0)` where each
    user has test items; see `inexpressible`. `LogRankWeight(offset=1)` is `replace(discount="log2")`.
    """


textbook, rankeval, allrank, allrank_1_4_1, spark = Textbook(), RankEval(), AllRank(), AllRank141(), Spark()
recommenders, recbole, replay, cornac = Recommenders(), RecBole(), Replay(), Cornac()
mlflow, implicit, lenskit, lenskit_2026 = MLflow(), Implicit(), LensKit(), LensKit2026()
