"""XGBoost's ranking metrics."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from rankadapters.core.declaration.convention import Convention
from rankadapters.core.declaration.fields import read_cutoff
from rankadapters.core.measures import AP, AUC, NDCG, Precision
from rankadapters.presets.tool import ANY_WEIGHTS, Options, choice, one_of, preset, refuse_unknown, split_spec
from rankadapters.presets.vocabulary import Vocabulary

NO_CUTOFF = 2**31 - 1  # longer than any query
DEFAULT_K = 32  # cutoff of a metric whose name has none

WITHOUT_GROUPS = AUC(
    pairs="unit", ties="average", precision="float32", empty="error",
    missing="error", unjudged="error", pool="rows", average="row",
)  # fmt: skip


class XGBoost(
    Vocabulary[dict[str, Any]], name="xgboost", package="xgboost", versions=("3.1.2", "3.4.1"), evidence="run 3.2.0",
    gain="exp2-floor", discount="log2", ideal="cutoff", relevant="above_0", ties="input", precision="float32",
    retrieve="all", short="pad", empty=1, missing="error", unjudged="error", pool="queries", average="query",
):  # fmt: skip
    """XGBoost 3.1 to 3.4 `ndcg@k` and `ndcg@k-`, rank_metric.cc. Run against 3.1.2, 3.2.0, 3.4.1: equal within 1e-12.

    Scores and labels are stored as float32. A query without relevant rows adds 1 (0 with the trailing minus) regardless
    of its weight. A plain `ndcg` means @32. Under exponential gain, XGBoost refuses labels above 31 and fractional
    labels; this preset accepts both and rounds fractional labels down.

    Parameters
    ----------
    ndcg_exp_gain
        XGBoost's parameter: gain 2^floor(l) - 1; False takes the label itself.
    minus
        Whether the metric's name ends with `-`.
    groups
        Whether the DMatrix has groups.
    """

    title: ClassVar[str] = "XGBoost"
    options: ClassVar[Options] = {
        "ndcg_exp_gain": choice({True: {}, False: {"gain": "linear"}}, lambda ndcg: not ndcg.gain.startswith("linear")),
        "minus": choice({True: {"empty": 0}, False: {}}, lambda convention: convention.empty == 0),
        "groups": choice({True: {}, False: WITHOUT_GROUPS}),
    }

    @preset(NDCG, "ndcg", average="query-except-empty")
    def __call__(self, k: int | None, *, ndcg_exp_gain: bool = True, minus: bool = False) -> NDCG:
        """Return `ndcg@k`."""

    @preset(AP, "map", divisor="cutoff")
    def map(self, k: int | None, *, minus: bool = False) -> AP:
        """`map@k` and `map@k-` of binary labels, rank_metric.cc. Run: equal within 1e-12.

        A plain `map` means @32; with the trailing minus, a query without relevant rows counts 0 instead of 1.
        """

    @preset(Precision, "pre", divisor="retrieved", empty=0)
    def pre(self, k: int | None) -> Precision:
        """`pre@k` of binary labels, rank_metric.cc: divided by min(k, n). Run: equal within 1e-12.

        A plain `pre` means @32; a trailing minus changes nothing.
        """

    @preset(AUC, "auc", pairs="every-two", ties="average", empty="skip", average="uniform")
    def auc(self, *, groups: bool = True) -> AUC:
        """`auc`, auc.cc. Run: equal within 1e-8, for integer labels within 1e-12.

        With groups it uses all pairs of rows in a query; of two rows with equal labels, the earlier one counts as the
        better one. The value is the unweighted mean over queries with at least three rows. Without groups, a label is
        the probability of being relevant.
        """

    def read(
        self,
        text: str | Mapping[str, Any],
        *,
        ndcg_exp_gain: bool | None = None,
        weights: str | None = None,
        **params: Any,
    ) -> Convention:
        """Return the convention that XGBoost computes for one of its metrics.

        Parameters
        ----------
        text : str or mapping
            A name such as `ndcg@10`, `ndcg@10-` or a plain `ndcg`, which means @32; or a result of `write`.
        ndcg_exp_gain : bool, optional
            XGBoost's parameter for `ndcg`, True by default.
        weights : str, optional
            The weights of the data; they do not change the convention of XGBoost's metrics.
        groups : bool
            For `auc`: whether the data have groups.

        Raises
        ------
        ConventionError
            The metric is unknown, or it is not a ranking metric.

        Examples
        --------
        >>> xgboost.read("ndcg@5-") == xgboost(5, minus=True)
        True
        """
        one_of("weights", weights, ANY_WEIGHTS)
        exponential = {} if ndcg_exp_gain is None else {"ndcg_exp_gain": ndcg_exp_gain}
        name, options = split_spec(text, "eval_metric", {**exponential, **params})
        base, at, digits = name.removesuffix("-").partition("@") if isinstance(name, str) else ("", "", "")
        k = read_cutoff(digits) if at else DEFAULT_K
        if base not in {"ndcg", "map", "pre"} or k is None:
            return super().read(name, **options)
        refuse_unknown(name, options, ("ndcg_exp_gain",) if base == "ndcg" else ())
        cutoff, minus = None if k == NO_CUTOFF else k, name.endswith("-")
        if base == "ndcg":
            return self(cutoff, minus=minus, **options)
        return self.pre(cutoff) if base == "pre" else self.map(cutoff, minus=minus)

    def _adjusted(self, convention: Any, nearest: Convention) -> Convention:
        """Keep `exp2`: XGBoost refuses fractional labels under it, and for whole labels it equals `exp2-floor`."""
        is_exponential = isinstance(convention, NDCG) and convention.gain == "exp2"
        return nearest.replace(gain="exp2") if is_exponential else nearest

    def fallback(self, convention: Any) -> Convention:
        """Return the nearest NDCG, for a measure that XGBoost lacks."""
        return self(convention.get("k"), minus=convention.get("empty") == 0)

    def spell(self, convention: Any) -> dict[str, Any]:
        """Return `eval_metric` (with a trailing minus for `empty=0`) and, for NDCG, `ndcg_exp_gain`.

        For `auc` on data without groups, `groups` is False, which is not a parameter of XGBoost.
        """
        call = self._call(convention)
        if call.metric == "auc":
            return {"eval_metric": "auc", **({} if call.arguments["groups"] else {"groups": False})}
        minus = "-" if call.arguments.get("minus") else ""
        params = {"eval_metric": f"{call.metric}@{min(convention.k or NO_CUTOFF, NO_CUTOFF)}{minus}"}
        exponential = call.arguments.get("ndcg_exp_gain")
        return params if exponential is None else {**params, "ndcg_exp_gain": exponential}


xgboost = XGBoost()
