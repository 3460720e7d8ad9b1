"""LightGBM's ranking metrics."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from numbers import Real
from typing import Any, ClassVar

from rankadapters.core.declaration.arguments import members
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.declaration.fields import border, gain_table, is_whole, read_cutoff, spell_number
from rankadapters.core.errors import ConventionError
from rankadapters.core.measures import AP, AUC, NDCG
from rankadapters.presets.tool import ANY_WEIGHTS, Fields, Option, Options, one_of, preset, refuse_unknown, split_spec
from rankadapters.presets.vocabulary import Vocabulary

LABELS = 31  # number of LightGBM's default gains
MOST_ROWS = 10_000  # largest query that LightGBM allows


def _table(name: str, label_gain: Sequence[float] | None) -> Fields:
    if label_gain is None:
        return {}
    gains: list[float] | None = members(label_gain)
    if gains is None or not all(isinstance(gain, Real) and abs(gain) <= sys.float_info.max for gain in gains):
        raise ConventionError(
            f"{name}={label_gain!r:.80} is not a list of finite numbers.", hint="label_gain=[0, 1, 3]"
        )
    return {"gain": "_".join(["table", *map(spell_number, gains)])}


def label_gain_of(gain: str) -> Sequence[float] | None:
    """Return `label_gain` for LightGBM, which accepts only whole labels from 0 on; None for its default."""
    if gain.startswith("linear"):
        return tuple(map(float, range(LABELS)))
    level = border(gain)
    if level is None or level[0] != "from":
        return gain_table(gain)
    return tuple(float(y >= level[1]) for y in range(LABELS))


class LightGBM(
    Vocabulary[dict[str, Any]], name="lightgbm", package="lightgbm", versions=("4.6.0", "4.7.0"), evidence="run 4.7.0",
    gain="exp2", discount="log2", ideal="cutoff", ties="input", precision="float64", retrieve="all", short="pad",
    empty=1, missing="error", unjudged="error",
):  # fmt: skip
    """LightGBM 4.6 and 4.7 `ndcg`, src/metric/rank_metric.hpp. Run against 4.6.0 and 4.7.0: equal within 1e-12.

    For a query without relevant rows, LightGBM adds 1 regardless of its weight, but divides by all weights. The weight
    of a query is the float32 mean of its row weights. The highest label is 30, or the last one in `label_gain`.

    Parameters
    ----------
    k
        One of LightGBM's `eval_at`.
    label_gain
        LightGBM's parameter of that name; it must not decrease. None is its default, 2^label - 1.
    """

    title: ClassVar[str] = "LightGBM"
    options: ClassVar[Options] = {"label_gain": Option(_table, lambda ndcg: (label_gain_of(ndcg.gain),))}

    @preset(NDCG, "ndcg", average="query-except-empty")
    def __call__(self, k: int | None, *, label_gain: Sequence[float] | None = None) -> NDCG:
        """Return `ndcg`."""

    @preset(AP, "map", relevant="above_0.5", divisor="cutoff", pool="queries", average="query")
    def map(self, k: int | None) -> AP:
        """`map@k`, src/metric/map_metric.hpp. Run: equal within 1e-12.

        A query without relevant rows counts 1. The weight of a query is the float32 mean of its row weights, even for a
        query without relevant rows, unlike in `ndcg`.
        """

    @preset(AUC, "auc", pairs="above_0", ties="average", pool="rows", average="row")
    def auc(self) -> AUC:
        """`auc`, src/metric/binary_metric.hpp, which ignores queries. Run: equal within 1e-12."""

    @preset(
        AP, "average_precision", k=None, relevant="above_0", divisor="relevant", ties="together", pool="rows",
        average="row",
    )  # fmt: skip
    def average_precision(self) -> AP:
        """`average_precision`, src/metric/binary_metric.hpp, over all rows. Run: equal within 1e-12."""

    def read(
        self,
        text: str | Mapping[str, Any],
        *,
        label_gain: Sequence[float] | None = None,
        weights: str | None = None,
        **params: Any,
    ) -> Convention:
        """Return the convention that LightGBM computes for one of its metrics.

        Parameters
        ----------
        text : str or mapping
            A name as in LightGBM's log, `ndcg@10`; a name with `eval_at=[10]` as a parameter; or a result of `write`.
        label_gain : sequence of float, optional
            LightGBM's parameter of that name.
        weights : str, optional
            The weights of the data; they do not change the convention of LightGBM's metrics.

        Raises
        ------
        ConventionError
            The metric is unknown, is not a ranking metric, or has no cutoff.

        Examples
        --------
        >>> lightgbm.read("ndcg@10", label_gain=[0, 1, 3]) == lightgbm(10, label_gain=[0, 1, 3])
        True
        """
        one_of("weights", weights, ANY_WEIGHTS)
        gains = {} if label_gain is None else {"label_gain": label_gain}
        name, options = split_spec(text, "metric", {**gains, **params})
        base, at, digits = name.partition("@") if isinstance(name, str) else ("", "", "")
        if base not in {"ndcg", "map"}:
            return super().read(name, **options)
        refuse_unknown(name, options, (*(() if at else ("eval_at",)), *(("label_gain",) if base == "ndcg" else ())))
        k = read_cutoff(digits) if at else _single_cutoff(options.get("eval_at"))
        if k is None:
            raise ConventionError(f"{name!r:.80} has no cutoff.", hint="'ndcg@10', or eval_at=[10]")
        cutoff = None if k >= MOST_ROWS else k
        return self(cutoff, label_gain=options.get("label_gain")) if base == "ndcg" else self.map(cutoff)

    def _adjusted(self, convention: Any, nearest: Convention) -> Convention:
        """Keep the gain: LightGBM accepts only whole labels from 0 on, for which gains of two names can be the same."""
        if not isinstance(convention, NDCG):
            return nearest
        return nearest.replace(gain=convention.gain, average="query-except-empty" if convention.empty else "query")

    def spell(self, convention: Any) -> dict[str, Any]:
        """Return `metric`, `eval_at` and, unless it is the default, `label_gain`."""
        call = self._call(convention)
        if convention.over == "rows":
            return {"metric": call.metric}
        gains = call.arguments.get("label_gain")
        return {
            "metric": call.metric,
            "eval_at": [min(convention.k or MOST_ROWS, MOST_ROWS)],
            **({} if gains is None else {"label_gain": list(gains)}),
        }


def _single_cutoff(eval_at: object) -> int | None:
    cutoffs: list[Any] = [eval_at] if not isinstance(eval_at, Sequence) else list(eval_at)
    return int(cutoffs[0]) if len(cutoffs) == 1 and is_whole(cutoffs[0]) and cutoffs[0] > 0 else None


lightgbm = LightGBM()
