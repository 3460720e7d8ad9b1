"""Elasticsearch's ranking evaluation."""

from __future__ import annotations

import sys
from typing import Any, ClassVar

from rankadapters.core.declaration.convention import Convention
from rankadapters.core.declaration.fields import is_whole
from rankadapters.core.errors import ConventionError
from rankadapters.core.measures import DCG, ERR, NDCG, RR, Precision, Recall
from rankadapters.presets.tool import Fields, Option, Options, Tool, as_bool, preset, refuse_unknown

DEFAULT_K = 10


def _rating(name: str, value: object) -> int:
    if not is_whole(value) or value < 0:
        raise ConventionError(f"{name}={value!r}; allowed are whole numbers from 0 on.")
    return int(value)


def _scale(name: str, value: object) -> Fields:
    """Return the field `scale`: 2 to the power of the largest rating."""
    if _rating(name, value) >= sys.float_info.max_exp:
        raise ConventionError(f"{name}={value!r:.80}; allowed are whole numbers to {sys.float_info.max_exp - 1}.")
    return {"scale": 2.0 ** _rating(name, value)}


def _unrated(name: str, rating: object) -> Fields:
    return {} if rating is None else {"unjudged": _rating(name, rating)}


def _refuse_unlabeled(name: str, value: object) -> Fields:
    if as_bool(name, value):
        msg = f"{name}=True removes hits after applying the cutoff, which no convention can express."
        raise ConventionError(msg, hint="presets.inexpressible()['elasticsearch_ignore_unlabeled']")
    return {}


class Elasticsearch(
    Tool, name="elasticsearch", versions=("commit 02f2048",), evidence="read", gain="exp2", discount="log2",
    relevant="from_1", ties="input", precision="float64", retrieve="all", short="pad", empty=0, missing="zero",
    unjudged="zero", average="uniform",
):  # fmt: skip
    """Elasticsearch `dcg` with `normalize`, DiscountedCumulativeGain.java. Read only, not run (commit 02f2048).

    The ideal list contains all rated documents and is cut at the number of hits. Unrated hits have gain 0, unless
    `unknown_doc_rating` gives them a rating, which the ideal list ignores. A query without hits counts 0, even if it
    has no ratings either: see `inexpressible`. Elasticsearch evaluates hits in their order; here scores decide, and
    tied rows keep their order. Pull request 154362, open in July 2026, would cut the ideal list at k, which is
    `replace(ideal="cutoff")`.

    Parameters
    ----------
    unknown_doc_rating
        The rating of unrated hits, at least 0; None means gain 0.
    maximum_relevance
        The highest possible rating: gains are divided by 2 to its power. Requests must specify it.
    relevant_rating_threshold
        The lowest relevant rating.
    ignore_unlabeled
        Whether unrated hits are left out. Since Elasticsearch leaves them out after applying the cutoff, no
        convention expresses it, and True is refused.
    """

    options: ClassVar[Options] = {
        "unknown_doc_rating": Option(_unrated),
        "maximum_relevance": Option(_scale),
        "relevant_rating_threshold": Option(lambda name, rating: {"relevant": f"from_{_rating(name, rating)}"}),
        "ignore_unlabeled": Option(_refuse_unlabeled),
    }

    @preset(NDCG, ideal="retrieved")
    def __call__(self, k: int | None, *, unknown_doc_rating: int | None = None) -> NDCG:
        """Return `dcg` with `normalize`."""

    @preset(DCG, "dcg")
    def dcg(self, k: int | None, *, unknown_doc_rating: int | None = None) -> DCG:
        """`dcg` without `normalize`, DiscountedCumulativeGain.java. Read only, not run."""

    @preset(ERR, "expected_reciprocal_rank", scale=16, discount="reciprocal")
    def err(self, k: int | None, *, maximum_relevance: int = 4, unknown_doc_rating: int | None = None) -> ERR:
        """`expected_reciprocal_rank`, ExpectedReciprocalRank.java. Read only, not run (commit 0991027)."""

    @preset(Precision, "precision", divisor="retrieved")
    def precision(
        self, k: int | None, *, relevant_rating_threshold: int = 1, ignore_unlabeled: bool = False
    ) -> Precision:
        """`precision` (`precision_at_k`), PrecisionAtK.java: divided by the hits. Read only (commit 19a4254)."""

    @preset(Recall, "recall")
    def recall(self, k: int | None, *, relevant_rating_threshold: int = 1) -> Recall:
        """`recall` (`recall_at_k`), RecallAtK.java. Read only, not run (commit 82f5de8)."""

    @preset(RR, "mean_reciprocal_rank")
    def mrr(self, k: int | None, *, relevant_rating_threshold: int = 1) -> RR:
        """`mean_reciprocal_rank`, MeanReciprocalRank.java. Read only, not run (commit 0066a27)."""

    def read(self, text: str, *, k: int = DEFAULT_K, normalize: bool = False, **params: Any) -> Convention:
        """Return the convention of a metric in a rank_eval request.

        Parameters
        ----------
        text : str
            The metric's name, such as `dcg`.
        k : int
            The metric's `k`, 10 by default.
        normalize : bool
            The parameter `normalize` of `dcg`.
        **params
            The remaining parameters of the metric.

        Examples
        --------
        >>> elasticsearch.read("dcg", normalize=True, unknown_doc_rating=1) == elasticsearch(10, unknown_doc_rating=1)
        True
        """
        if not as_bool("normalize", normalize):
            return super().read(text, k=k, **params)
        if not (isinstance(text, str) and text == "dcg"):
            raise ConventionError(f"{text!r:.80} has no parameter 'normalize'.")
        refuse_unknown(text, params, ("unknown_doc_rating",))
        return self(k, **params)


elasticsearch = Elasticsearch()
