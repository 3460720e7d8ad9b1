"""scikit-learn's ranking metrics."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any, ClassVar, Literal

from rankadapters.core.declaration.convention import Convention
from rankadapters.core.declaration.spelling import border
from rankadapters.core.measures import AP, AUC, DCG, NDCG, Coverage, Success
from rankadapters.core.presets.tool import ANY_WEIGHTS, Vocabulary, measure, no_others, one_of, spec_of, takes_k

DEFAULT_TOP = 2  # of top_k_accuracy_score


class ScikitLearn(Vocabulary[dict[str, Any]]):
    """scikit-learn 1.6 to 1.9 `ndcg_score`, sklearn/metrics/_ranking.py. Run with 1.6.0 and 1.9.1: equal to 1e-12.

    The function itself refuses one-document queries and negative labels; here the former count as defined and the
    latter are taken as they are, with a warning. Its `sample_weight` is our query weight.
    """

    name: ClassVar[str] = "sklearn"
    title: ClassVar[str] = "scikit-learn"

    def __call__(self, k: int | None) -> NDCG:
        """Give `ndcg_score`, the mean over queries."""
        return NDCG(
            k=k, gain="linear", discount="log2", ideal="cutoff", ties="average", precision="float64",
            short="pad", empty=0, missing="error", unjudged="error", average="query",
        ).named(self.name)  # fmt: skip

    @measure
    def dcg(self, k: int | None, *, log_base: float = 2) -> DCG:
        """`dcg_score`, sklearn/metrics/_ranking.py. Run with 1.9.1: equal to 1e-12.

        Parameters
        ----------
        k : int or None
            Its cutoff.
        log_base : float
            Base of the logarithm of the discount, above 1.
        """
        found = DCG(
            k=k, gain="linear", discount="log2", ties="average", precision="float64",
            short="pad", missing="error", unjudged="error", average="query",
        ).named("sklearn.dcg")  # fmt: skip
        return found.replace(discount=f"log_{log_base}")

    @measure
    def average_precision_score(self, *, pool: Literal["rows", "queries"] = "rows") -> AP:
        """`average_precision_score` of all rows, or of each query. Run with 1.9.1: equal to 1e-12.

        Parameters
        ----------
        pool : {'rows', 'queries'}
            One call over all rows, or one for each query and their mean. `sample_weight` is our row weight.
        """
        found = AP(
            k=None, relevant="from_1", divisor="relevant", ties="together", precision="float64", retrieve="all",
            short="pad", empty=0, missing="error", unjudged="error", pool="rows", average="row",
        ).named("sklearn.average_precision_score")  # fmt: skip
        return found.replace(pool=pool)

    @measure
    def label_ranking_average_precision_score(self) -> AP:
        """`label_ranking_average_precision_score` of queries as rows. Run with 1.9.1: equal to 1e-12."""
        return AP(
            k=None, relevant="from_1", divisor="relevant", ties="together", precision="float64", retrieve="all",
            short="pad", empty=1, missing="error", unjudged="error", pool="queries", average="query",
        ).named("sklearn.label_ranking_average_precision_score")  # fmt: skip

    @measure
    def roc_auc_score(self, *, pool: Literal["rows", "queries"] = "rows") -> AUC:
        """`roc_auc_score` of all rows, or of each query. Run with 1.9.1: equal to 1e-12.

        Parameters
        ----------
        pool : {'rows', 'queries'}
            One call over all rows, or one for each query and their mean. `sample_weight` is our row weight.
        """
        found = AUC(
            pairs="from_1", complement="float64", ties="average", precision="float64", empty="error",
            missing="error", unjudged="error", pool="rows", average="row",
        ).named("sklearn.roc_auc_score")  # fmt: skip
        return found.replace(pool=pool)

    @measure
    def coverage_error(self) -> Coverage:
        """`coverage_error` of queries as rows. Run with 1.9.1: equal to 1e-12; lower is better."""
        return Coverage(
            relevant="from_1", ties="worst", precision="float64", empty=0, missing="error", unjudged="error",
            average="query",
        ).named("sklearn.coverage_error")  # fmt: skip

    @measure
    def top_k_accuracy_score(self, k: int | None) -> Success:
        """`top_k_accuracy_score` of queries as samples, rows as classes. Run with 1.9.1: equal to 1e-12.

        A sample has one class, the row of label 1, among three or more: of two classes it takes one score, and a
        threshold. Its `k` is 2 where it is not given.
        """
        return Success(
            k=k, relevant="from_1", ties="reverse", precision="float64", retrieve="all", short="pad", empty=0,
            missing="error", unjudged="error", average="query",
        ).named("sklearn.top_k_accuracy_score")  # fmt: skip

    def read(self, text: str | Mapping[str, Any], *, weights: str | None = "query", **params: Any) -> Convention:
        """Read what a function of sklearn.metrics computes.

        Parameters
        ----------
        text : str or mapping
            The function's name, or what `write` returned.
        weights : {'query', 'row', None}
            Whether `sample_weight` may be given.
        k : int or None
            The own parameter of `ndcg_score`, `dcg_score` and `top_k_accuracy_score`.
        log_base : float
            That of `dcg_score`.
        pool : {'rows', 'queries'}
            Of `average_precision_score` and `roc_auc_score`: called once for all rows, or for each query.

        Raises
        ------
        ConventionError
            No ranking metric that is known here.

        Examples
        --------
        >>> sklearn.read("ndcg_score", k=5) == sklearn(5)
        True
        """
        name, options = spec_of(text, "metric", params)
        one_of("weights", weights, ANY_WEIGHTS)
        make = self._functions().get(name) if isinstance(name, str) else None
        if make is None:
            raise self._unknown(name)
        no_others(name, options, tuple(inspect.signature(make).parameters))
        unsaid = {"k": DEFAULT_TOP if name == "top_k_accuracy_score" else None} if takes_k(make) else {}
        found: Convention = make(**unsaid | options)
        return found if weights else found.replace(average="uniform")

    def nearest(self, convention: Convention) -> Convention:
        """Give the nearest convention that scikit-learn computes."""
        if not isinstance(convention, (NDCG, DCG)):
            found = [self.roc_auc_score(), self.roc_auc_score(pool="queries"), self.average_precision_score()]
            found += [self.average_precision_score(pool="queries"), self.label_ranking_average_precision_score()]
            found += [self.coverage_error(), self.top_k_accuracy_score(getattr(convention, "k", None))]
            same = [each for each in found if each.measure == convention.measure]
            return min(same or [self(None)], key=lambda each: len(each.diff(convention)))
        word, base = border(convention.discount) or ("", 2.0)
        log_base = {"log_base": base} if word == "log" and isinstance(convention, DCG) else {}
        nearest: Convention = (self.dcg if isinstance(convention, DCG) else self)(convention.k, **log_base)
        return nearest.replace(average="query" if convention.weighting else "uniform")

    def spell(self, convention: Any) -> dict[str, Any]:
        """Name the function and its parameters."""
        if isinstance(convention, (NDCG, DCG)):
            found = {"metric": f"{convention.measure}_score", "k": convention.k}
            base = border(convention.discount)
            return found if base is None else {**found, "log_base": base[1]}
        for name in ("average_precision_score", "roc_auc_score"):
            for pool in ("rows", "queries"):
                if getattr(self, name)(pool=pool) == convention:
                    return {"metric": name, "pool": pool}
        if isinstance(convention, Coverage):
            return {"metric": "coverage_error"}
        if isinstance(convention, Success):
            return {"metric": "top_k_accuracy_score", "k": convention.k}
        return {"metric": "label_ranking_average_precision_score"}

    def _functions(self) -> dict[str, Any]:
        """Functions of sklearn.metrics, and what they are here."""
        several = (
            "average_precision_score",
            "label_ranking_average_precision_score",
            "roc_auc_score",
            "coverage_error",
            "top_k_accuracy_score",
        )
        return {"ndcg_score": self, "dcg_score": self.dcg, **{name: getattr(self, name) for name in several}}


sklearn = ScikitLearn()
