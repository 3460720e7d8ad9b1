"""Elasticsearch's ranking evaluation."""

from __future__ import annotations

import sys
from typing import Any, ClassVar

from rankadapters.core.declaration.convention import Convention
from rankadapters.core.declaration.number_fields import is_whole
from rankadapters.core.errors import ConventionError
from rankadapters.core.measures import DCG, ERR, NDCG, RR, Precision, Recall
from rankadapters.core.presets.options import Computed, Fields, Options, flag
from rankadapters.core.presets.preset import preset
from rankadapters.core.presets.tool import Tool, no_others

DEFAULT_K = 10


def _rating(name: str, value: object) -> int:
    if not is_whole(value) or value < 0:
        raise ConventionError(f"{name}={value!r}; allowed are whole numbers from 0 on.")
    return int(value)


def _scale(name: str, value: object) -> Fields:
    """Return the field that the largest rating is: 2 to its power."""
    if _rating(name, value) >= sys.float_info.max_exp:
        raise ConventionError(f"{name}={value!r:.80}; allowed are whole numbers to {sys.float_info.max_exp - 1}.")
    return {"scale": 2.0 ** _rating(name, value)}


def _unrated(name: str, rating: object) -> Fields:
    return {} if rating is None else {"unjudged": _rating(name, rating)}


def _refuse_unlabeled(name: str, value: object) -> Fields:
    if flag(name, value):
        msg = f"{name}=True leaves hits out behind the cutoff, which no convention says."
        raise ConventionError(msg, hint="presets.inexpressible()['elasticsearch_ignore_unlabeled']")
    return {}


class Elasticsearch(
    Tool, name="elasticsearch", versions=("commit 02f2048",), evidence="read", gain="exp2", discount="log2",
    relevant="from_1", ties="input", precision="float64", retrieve="all", short="pad", empty=0, missing="zero",
    unjudged="zero", average="uniform",
):  # fmt: skip
    """Elasticsearch rank_eval `dcg` with `normalize`, DiscountedCumulativeGain.java. Read only, at commit 02f2048.

    The ideal list holds all rated documents and is cut at the number of hits. Unrated hits have gain 0, unless
    `unknown_doc_rating` gives them a rating, which the ideal list knows nothing of. A query without hits counts 0, also
    where it has no ratings either: see `inexpressible`. The hits are taken in their order: their scores decide here,
    and ties stand as given. Its pull request 154362, open in July 2026, would cut the ideal list at k:
    `replace(ideal="cutoff")`.
    """

    options: ClassVar[Options] = {
        "unknown_doc_rating": Computed(_unrated),
        "maximum_relevance": Computed(_scale),
        "relevant_rating_threshold": Computed(lambda name, rating: {"relevant": f"from_{_rating(name, rating)}"}),
        "ignore_unlabeled": Computed(_refuse_unlabeled),
    }

    @preset(NDCG, ideal="retrieved")
    def __call__(self, k: int | None, *, unknown_doc_rating: int | None = None) -> NDCG:
        """Give `dcg` with `normalize`.

        Parameters
        ----------
        k : int or None
            Its `k`.
        unknown_doc_rating : int or None
            The rating of hits that are not rated, from 0 on; None is gain 0.
        """

    @preset(DCG, "dcg")
    def dcg(self, k: int | None, *, unknown_doc_rating: int | None = None) -> DCG:
        """`dcg` without `normalize`, DiscountedCumulativeGain.java. Read only; parameters as of the call."""

    @preset(ERR, "expected_reciprocal_rank", scale=16, discount="reciprocal", complement="float64")
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

    @preset(Precision, "precision", divisor="retrieved")
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

    @preset(Recall, "recall")
    def recall(self, k: int | None, *, relevant_rating_threshold: int = 1) -> Recall:
        """`recall` (`recall_at_k`), RecallAtK.java. Read only, at commit 82f5de8; parameters as of `precision`."""

    @preset(RR, "mean_reciprocal_rank")
    def mrr(self, k: int | None, *, relevant_rating_threshold: int = 1) -> RR:
        """`mean_reciprocal_rank`, MeanReciprocalRank.java. Read only, at commit 0066a27; as of `precision`."""

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
        if not flag("normalize", normalize):
            return super().read(text, k=k, **params)
        if not (isinstance(text, str) and text == "dcg"):
            raise ConventionError(f"{text!r:.80} has no parameter 'normalize'.")
        no_others(text, params, ("unknown_doc_rating",))
        return self(k, **params)


elasticsearch = Elasticsearch()
