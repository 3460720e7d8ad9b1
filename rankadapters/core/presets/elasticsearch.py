"""Elasticsearch's ranking evaluation."""

from __future__ import annotations

from typing import Any, ClassVar, TypeVar

from rankadapters.core.declaration.convention import Convention
from rankadapters.core.declaration.number_fields import is_whole
from rankadapters.core.errors import ConventionError
from rankadapters.core.measures import DCG, ERR, NDCG, RR, Precision, Recall
from rankadapters.core.presets.ranklib import ranklib
from rankadapters.core.presets.tool import Tool, flag, measure, no_others

C = TypeVar("C", NDCG, DCG, ERR)
DEFAULT_K = 10
_RANKED: dict[str, Any] = {
    "ties": "input", "precision": "float64", "short": "pad", "missing": "zero", "unjudged": "zero",
    "average": "uniform",
}  # fmt: skip


class Elasticsearch(Tool):
    """Elasticsearch rank_eval `dcg` with `normalize`, DiscountedCumulativeGain.java. Read only, at commit 02f2048.

    The ideal list holds all rated documents and is cut at the number of hits. Unrated hits have gain 0, unless
    `unknown_doc_rating` gives them a rating, which the ideal list knows nothing of. A query without hits counts 0, also
    where it has no ratings either: see `inexpressible`. The hits are taken in their order: their scores decide here,
    and ties stand as given.
    """

    name: ClassVar[str] = "elasticsearch"

    def __call__(self, k: int | None, *, unknown_doc_rating: int | None = None) -> NDCG:
        """Give `dcg` with `normalize`.

        Parameters
        ----------
        k : int or None
            Its `k`.
        unknown_doc_rating : int or None
            The rating of hits that are not rated, from 0 on; None is gain 0.
        """
        found = ranklib(k).replace(ideal="retrieved", missing="zero", unjudged="zero").named(self.name)
        return _rated(found, unknown_doc_rating)

    @measure
    def dcg(self, k: int | None, *, unknown_doc_rating: int | None = None) -> DCG:
        """`dcg` without `normalize`, DiscountedCumulativeGain.java. Read only; parameters as of the call."""
        found = DCG(k=k, gain="exp2", discount="log2", **_RANKED).named("elasticsearch.dcg")
        return _rated(found, unknown_doc_rating)

    @measure
    def err(self, k: int | None, *, maximum_relevance: int = 4, unknown_doc_rating: int | None = None) -> ERR:
        """`expected_reciprocal_rank`, ExpectedReciprocalRank.java. Read only, at commit 0991027.

        Parameters
        ----------
        k : int or None
            Its `k`.
        maximum_relevance : int
            The highest rating there may be: gains are divided by 2 to its power. A request must say it.
        unknown_doc_rating : int or None
            As of the call.
        """
        found = ERR(
            k=k, gain="exp2", scale=16, discount="reciprocal", complement="float64", **_RANKED
        ).named("elasticsearch.err")  # fmt: skip
        return _rated(found.replace(scale=2.0 ** _rating("maximum_relevance", maximum_relevance)), unknown_doc_rating)

    @measure
    def precision(
        self, k: int | None, *, relevant_rating_threshold: int = 1, ignore_unlabeled: bool = False
    ) -> Precision:
        """`precision` (`precision_at_k`), PrecisionAtK.java. Read only, at commit 19a4254: divided by the hits.

        Parameters
        ----------
        k : int or None
            Its `k`.
        relevant_rating_threshold : int
            The least rating that is relevant.
        ignore_unlabeled : bool
            Whether hits that are not rated are left out. It leaves out those at ranks 1..k only and takes none in
            their place, which no convention says: True is refused.
        """
        if flag("ignore_unlabeled", ignore_unlabeled):
            msg = "ignore_unlabeled=True leaves hits out behind the cutoff, which no convention says."
            raise ConventionError(f"{msg}\nHint: presets.inexpressible()['elasticsearch_ignore_unlabeled'].")
        found = Precision(k=k, relevant="from_1", divisor="retrieved", retrieve="all", empty=0, **_RANKED)
        return found.named("elasticsearch.precision").replace(relevant=_threshold(relevant_rating_threshold))

    @measure
    def recall(self, k: int | None, *, relevant_rating_threshold: int = 1) -> Recall:
        """`recall` (`recall_at_k`), RecallAtK.java. Read only, at commit 82f5de8; parameters as of `precision`."""
        found = Recall(k=k, relevant="from_1", retrieve="all", empty=0, **_RANKED).named("elasticsearch.recall")
        return found.replace(relevant=_threshold(relevant_rating_threshold))

    @measure
    def mrr(self, k: int | None, *, relevant_rating_threshold: int = 1) -> RR:
        """`mean_reciprocal_rank`, MeanReciprocalRank.java. Read only, at commit 0066a27; as of `precision`."""
        found = RR(k=k, relevant="from_1", retrieve="all", empty=0, **_RANKED).named("elasticsearch.mrr")
        return found.replace(relevant=_threshold(relevant_rating_threshold))

    def read(self, text: str, *, k: int = DEFAULT_K, normalize: bool = False, **params: Any) -> Convention:
        """Read what a metric of a rank_eval request computes.

        Parameters
        ----------
        text : str
            Its name, such as `dcg`.
        k : int
            Its `k`, 10 where the request does not say it.
        normalize : bool
            Of `dcg`.
        **params
            Its other parameters.

        Examples
        --------
        >>> elasticsearch.read("dcg", normalize=True, unknown_doc_rating=1) == elasticsearch(10, unknown_doc_rating=1)
        True
        """
        if text == "dcg" and flag("normalize", normalize):
            no_others(text, params, ("unknown_doc_rating",))
            return self(k, **params)
        if normalize:
            raise ConventionError(f"{text!r:.80} has no parameter 'normalize'.")
        return super().read(text, k=k, **params)

    patterns: ClassVar[dict[str, str]] = {
        "dcg": "dcg",
        "expected_reciprocal_rank": "err",
        "precision": "precision",
        "recall": "recall",
        "mean_reciprocal_rank": "mrr",
    }


def _rating(name: str, value: object) -> int:
    if not is_whole(value) or value < 0:  # type: ignore[operator]
        raise ConventionError(f"{name}={value!r}; allowed are whole numbers from 0 on.")
    return int(value)  # type: ignore[call-overload, no-any-return]


def _threshold(rating: object) -> str:
    return f"from_{_rating('relevant_rating_threshold', rating)}"


def _rated(found: C, rating: object) -> C:
    return found if rating is None else found.replace(unjudged=_rating("unknown_doc_rating", rating))


elasticsearch = Elasticsearch()
