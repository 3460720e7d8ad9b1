"""XGBoost's ranking metrics."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from rankadapters.core.declaration.convention import Convention
from rankadapters.core.measures import AP, AUC, NDCG, Precision
from rankadapters.core.presets.tool import ANY_WEIGHTS, Vocabulary, cut, flag, measure, no_others, one_of, spec_of

NO_CUTOFF = 2**31 - 1  # beyond any query
NAMES = {"ndcg": "ndcg", "ap": "map", "precision": "pre"}  # of the metrics with a cutoff
BARE = 32  # the cutoff of a metric that is written without one


class XGBoost(Vocabulary[dict[str, Any]]):
    """XGBoost 3.1 to 3.4 `ndcg@k` and `ndcg@k-`, rank_metric.cc. Run with 3.1.2, 3.2.0 and 3.4.1: equal to 1e-12.

    Scores and labels are held as float32. A query with nothing relevant adds 1 (0 with the trailing minus) whatever
    its weight. A bare `ndcg` means @32. Under exponential gain XGBoost refuses labels above 31 and fractional ones;
    ours takes the former as they are and the latter rounded down.
    """

    name: ClassVar[str] = "xgboost"
    title: ClassVar[str] = "XGBoost"

    def __call__(self, k: int | None, *, exp_gain: bool = True, minus: bool = False) -> NDCG:
        """Give `ndcg@k`.

        Parameters
        ----------
        k : int or None
            The cutoff in the metric's name.
        exp_gain : bool
            XGBoost's `ndcg_exp_gain`: gain 2^floor(l) - 1; False takes the label itself.
        minus : bool
            Whether the metric's name ends with `-`.
        """
        found = NDCG(
            k=k, gain="exp2-floor", discount="log2", ideal="cutoff", ties="input", precision="float32",
            short="pad", empty=1, missing="error", unjudged="error", average="query-except-empty",
        ).named(self.name)  # fmt: skip
        changes = {} if flag("exp_gain", exp_gain) else {"gain": "linear"}
        return found.replace(**changes, **({"empty": 0} if flag("minus", minus) else {}))

    @measure
    def map(self, k: int | None, *, minus: bool = False) -> AP:
        """`map@k` and `map@k-` of binary labels, rank_metric.cc. Run with 3.2.0: equal to 1e-12.

        Parameters
        ----------
        k : int or None
            The cutoff in the metric's name; a bare `map` means @32.
        minus : bool
            Whether the metric's name ends with `-`: a query without relevant rows counts 0 and not 1.
        """
        found = AP(
            k=k, relevant="above_0", divisor="cutoff", ties="input", precision="float32", retrieve="all",
            short="pad", empty=1, missing="error", unjudged="error", pool="queries", average="query",
        ).named("xgboost.map")  # fmt: skip
        return found.replace(empty=0) if flag("minus", minus) else found

    @measure
    def pre(self, k: int | None) -> Precision:
        """`pre@k` of binary labels, rank_metric.cc: divided by min(k, n). Run with 3.2.0: equal to 1e-12.

        A bare `pre` means @32; a trailing minus changes nothing.
        """
        return Precision(
            k=k, relevant="above_0", divisor="retrieved", ties="input", precision="float32", retrieve="all",
            short="pad", empty=0, missing="error", unjudged="error", average="query",
        ).named("xgboost.pre")  # fmt: skip

    @measure
    def auc(self, *, groups: bool = True) -> AUC:
        """`auc`, auc.cc. Run with 3.2.0: equal to 1e-8, with integer labels to 1e-12.

        With groups it takes every two rows of a query, the earlier of equal labels as the better one, and averages
        over the queries of three rows or more, all alike. Without groups a label is the probability of being relevant.

        Parameters
        ----------
        groups : bool
            Whether the DMatrix has groups.
        """
        if flag("groups", groups):
            return AUC(
                pairs="every-two", complement="float64", ties="average", precision="float32", empty="skip",
                missing="error", unjudged="error", pool="queries", average="uniform",
            ).named("xgboost.auc")  # fmt: skip
        return AUC(
            pairs="unit", complement="float32", ties="average", precision="float32", empty="error",
            missing="error", unjudged="error", pool="rows", average="row",
        )  # fmt: skip

    def read(
        self,
        text: str | Mapping[str, Any],
        *,
        ndcg_exp_gain: bool | None = None,
        weights: str | None = None,
        **params: Any,
    ) -> Convention:
        """Read what XGBoost computes for one of its metrics.

        Parameters
        ----------
        text : str or mapping
            Such as `ndcg@10`, `ndcg@10-` or a bare `ndcg`, which means @32; or what `write` returned.
        ndcg_exp_gain : bool, optional
            XGBoost's parameter of that name, of `ndcg`; its default is True.
        weights : str, optional
            Which weights the data have; XGBoost's metrics mean the same with any.
        groups : bool
            Of `auc`: whether the data have groups.

        Raises
        ------
        ConventionError
            No ranking metric that is known here.

        Examples
        --------
        >>> xgboost.read("ndcg@5-") == xgboost(5, minus=True)
        True
        """
        one_of("weights", weights, ANY_WEIGHTS)
        exponential = {} if ndcg_exp_gain is None else {"ndcg_exp_gain": ndcg_exp_gain}
        name, options = spec_of(text, "eval_metric", {**exponential, **params})
        if name == "auc":
            no_others(name, options, ("groups",))
            return self.auc(groups=options.get("groups", True))
        if not isinstance(name, str):
            raise self._unknown(name)
        minus = name.endswith("-")
        base, at, digits = name.removesuffix("-").partition("@")
        k = cut(digits) if at else BARE
        if base not in self._ranked() or k is None:
            raise self._unknown(name)
        bare = None if k == NO_CUTOFF else k
        if base == "ndcg":
            no_others(name, options, ("ndcg_exp_gain",))
            return self(bare, exp_gain=options.get("ndcg_exp_gain", True), minus=minus)
        no_others(name, options, ())
        return self.pre(bare) if base == "pre" else self.map(bare, minus=minus)

    def nearest(self, convention: Convention) -> Convention:
        """Give the nearest convention that XGBoost computes."""
        minus = getattr(convention, "empty", None) == 0
        k = getattr(convention, "k", None)
        if not isinstance(convention, NDCG):
            several: list[Convention] = [self.map(k, minus=minus), self.pre(k), self.auc(), self.auc(groups=False)]
            same = [each for each in several if each.measure == convention.measure]
            return min(same or [self(k, minus=minus)], key=lambda each: len(each.diff(convention)))
        nearest = self(k, exp_gain=not convention.gain.startswith("linear"), minus=minus)
        # It refuses fractional labels under exponential gain, so that the two are the same to it.
        return nearest.replace(gain="exp2") if convention.gain == "exp2" else nearest

    def spell(self, convention: Any) -> dict[str, Any]:
        """Give `eval_metric` (with a trailing minus for `empty=0`) and, for NDCG, `ndcg_exp_gain`.

        `auc` of data without groups says so, which is not a parameter of XGBoost's.
        """
        if isinstance(convention, AUC):
            return {"eval_metric": "auc", **({} if convention == self.auc() else {"groups": False})}
        k = min(convention.k or NO_CUTOFF, NO_CUTOFF)
        found: dict[str, Any] = {
            "eval_metric": f"{NAMES[convention.measure]}@{k}" + ("-" if self._says_minus(convention) else "")
        }
        gain = getattr(convention, "gain", None)
        return found if gain is None else {**found, "ndcg_exp_gain": not gain.startswith("linear")}

    def _ranked(self) -> dict[str, Any]:
        """Metrics with a cutoff."""
        return {"ndcg": self, "map": self.map, "pre": self.pre}

    @staticmethod
    def _says_minus(convention: Any) -> bool:
        return convention.measure != "precision" and bool(convention.empty == 0)


xgboost = XGBoost()
