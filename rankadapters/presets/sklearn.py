"""scikit-learn's ranking metrics."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

from rankadapters.core.declaration.convention import Convention
from rankadapters.core.measures import AP, AUC, DCG, NDCG, Coverage, Success
from rankadapters.presets.tool import ANY_WEIGHTS, Options, choice, in_word, one_of, preset, split_spec
from rankadapters.presets.vocabulary import Vocabulary


class ScikitLearn(
    Vocabulary[dict[str, Any]], name="sklearn", package="scikit-learn", versions=("1.6.0", "1.9.1"),
    evidence="run 1.9.1", gain="linear", discount="log2", ideal="cutoff", relevant="from_1", ties="average",
    precision="float64", retrieve="all", short="pad", empty=0, missing="error", unjudged="error", average="query",
):  # fmt: skip
    """scikit-learn 1.6 to 1.9 `ndcg_score`, metrics/_ranking.py. Run against 1.6.0 and 1.9.1: equal within 1e-12.

    scikit-learn refuses queries with one document and negative labels. This preset evaluates both by the definition,
    negative labels with a warning. scikit-learn's `sample_weight` is our query weight.

    Parameters
    ----------
    log_base
        Base of the logarithm in the discount, above 1.
    pool
        One call for all rows, or the mean of a call for each query. `sample_weight` is our row weight.
    """

    title: ClassVar[str] = "scikit-learn"
    options: ClassVar[Options] = {
        "log_base": in_word("discount", "log_{}", lambda _, base: base, near=(2.0,)),
        "pool": choice({"rows": {"pool": "rows"}, "queries": {"pool": "queries"}}),
    }

    @preset(NDCG, "ndcg_score")
    def __call__(self, k: int | None) -> NDCG:
        """Return `ndcg_score`, the mean over queries."""

    @preset(DCG, "dcg_score")
    def dcg(self, k: int | None, *, log_base: float = 2) -> DCG:
        """`dcg_score`, sklearn/metrics/_ranking.py. Run: equal within 1e-12."""

    @preset(AP, "average_precision_score", k=None, divisor="relevant", ties="together", pool="rows", average="row")
    def average_precision_score(self, *, pool: Literal["rows", "queries"] = "rows") -> AP:
        """`average_precision_score` of all rows, or the mean over queries. Run: equal within 1e-12."""

    @preset(
        AP, "label_ranking_average_precision_score", k=None, divisor="relevant", ties="together", empty=1,
        pool="queries",
    )  # fmt: skip
    def label_ranking_average_precision_score(self) -> AP:
        """`label_ranking_average_precision_score` with a query per row. Run: equal within 1e-12."""

    @preset(AUC, "roc_auc_score", pairs="from_1", empty="error", pool="rows", average="row")
    def roc_auc_score(self, *, pool: Literal["rows", "queries"] = "rows") -> AUC:
        """`roc_auc_score` of all rows, or the mean over queries. Run: equal within 1e-12."""

    @preset(Coverage, "coverage_error", ties="worst")
    def coverage_error(self) -> Coverage:
        """`coverage_error` with a query per row. Run: equal within 1e-12; lower is better."""

    @preset(Success, "top_k_accuracy_score", default_k=2, ties="reverse")
    def top_k_accuracy_score(self, k: int | None) -> Success:
        """`top_k_accuracy_score` with queries as samples and rows as classes. Run: equal within 1e-12.

        The class of a sample is the row with label 1. There must be at least three classes, since for two classes
        scikit-learn expects one score per sample and applies a threshold. The default of `k` is 2 in scikit-learn.
        """

    def read(self, text: str | Mapping[str, Any], *, weights: str | None = "query", **params: Any) -> Convention:
        """Return the convention of a function of sklearn.metrics.

        Parameters
        ----------
        text : str or mapping
            The function's name, or a result of `write`.
        weights : {'query', 'row', None}
            The weights of the data for `sample_weight`; None if it is not used.
        k : int or None
            The parameter `k` of `ndcg_score`, `dcg_score` and `top_k_accuracy_score`.
        log_base : float
            The parameter `log_base` of `dcg_score`.
        pool : {'rows', 'queries'}
            Whether `average_precision_score` or `roc_auc_score` is called once for all rows, or for each query.

        Raises
        ------
        ConventionError
            The metric is unknown, or it is not a ranking metric.

        Examples
        --------
        >>> sklearn.read("ndcg_score", k=5) == sklearn(5)
        True
        """
        name, options = split_spec(text, "metric", params)
        one_of("weights", weights, ANY_WEIGHTS)
        convention = super().read(name, **options)
        return convention if weights else convention.replace(average="uniform")

    def _adjusted(self, convention: Any, nearest: Convention) -> Convention:
        """Give NDCG and DCG the weights of the convention, which `sample_weight` may give or not."""
        if not isinstance(convention, (NDCG, DCG)):
            return nearest
        return nearest.replace(average="query" if convention.weighting else "uniform")

    def fallback(self, convention: Any) -> Convention:  # noqa: ARG002 - the same for every measure
        """Return NDCG without a cutoff, for a measure that scikit-learn lacks."""
        return self(None)

    def spell(self, convention: Any) -> dict[str, Any]:
        """Return the function's name and its parameters."""
        call = self._call(convention)
        params = {"metric": call.metric, **call.arguments}
        if convention.measure == "dcg" and convention.discount == "log2":
            del params["log_base"]  # the default
        return params


sklearn = ScikitLearn()
