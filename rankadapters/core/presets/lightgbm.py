"""LightGBM's ranking metrics."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from numbers import Real
from typing import Any, ClassVar

from rankadapters.core.declaration.arguments import members
from rankadapters.core.declaration.convention import Convention, as_convention
from rankadapters.core.declaration.number_fields import is_whole
from rankadapters.core.declaration.spelling import number, table
from rankadapters.core.errors import ConventionError
from rankadapters.core.measures import AP, AUC, NDCG
from rankadapters.core.presets.options import ANY_WEIGHTS, Computed, Fields, Options, one_of
from rankadapters.core.presets.preset import preset
from rankadapters.core.presets.tool import Vocabulary, cut, no_others, spec_of

LABELS = 31  # default gains end there
MOST_ROWS = 10_000  # of a query


def _table(name: str, label_gain: Sequence[float] | None) -> Fields:
    if label_gain is None:
        return {}
    gains: list[float] | None = members(label_gain)
    if gains is None or not all(isinstance(gain, Real) and abs(gain) <= sys.float_info.max for gain in gains):
        raise ConventionError(
            f"{name}={label_gain!r:.80} is not a list of finite numbers.", hint="label_gain=[0, 1, 3]"
        )
    return {"gain": "_".join(["table", *map(number, gains)])}


def _label_gain(convention: NDCG) -> tuple[Sequence[float] | None]:
    """Gains to be told LightGBM; None where they are its default."""
    linear = convention.gain.startswith("linear")
    return (tuple(map(float, range(LABELS))) if linear else table(convention.gain),)


class LightGBM(
    Vocabulary[dict[str, Any]], name="lightgbm", package="lightgbm", versions=("4.6.0", "4.7.0"), evidence="run",
    gain="exp2", discount="log2", ideal="cutoff", ties="input", precision="float64", retrieve="all", short="pad",
    empty=1, missing="error", unjudged="error",
):  # fmt: skip
    """LightGBM 4.6 and 4.7 `ndcg`, src/metric/rank_metric.hpp. Run with 4.6.0 and 4.7.0: equal to 1e-12.

    LightGBM adds 1 for a query with nothing relevant whatever its weight, but divides by all weights. A query weighs
    the float32 mean of its row weights. Its labels end at 30, or where `label_gain` ends.
    """

    title: ClassVar[str] = "LightGBM"
    options: ClassVar[Options] = {"label_gain": Computed(_table, _label_gain)}

    @preset(NDCG, "ndcg", average="query-except-empty")
    def __call__(self, k: int | None, *, label_gain: Sequence[float] | None = None) -> NDCG:
        """Give `ndcg`.

        Parameters
        ----------
        k : int or None
            One of LightGBM's `eval_at`.
        label_gain : sequence of float, optional
            LightGBM's parameter of that name; it must not decrease. None is its default, 2^l - 1.
        """

    @preset(AP, "map", relevant="above_0.5", divisor="cutoff", pool="queries", average="query")
    def map(self, k: int | None) -> AP:
        """`map@k`, src/metric/map_metric.hpp. Run with 4.7.0: equal to 1e-12.

        A query without relevant rows counts 1. A query weighs the float32 mean of its row weights, unlike in `ndcg`
        also where it is empty.
        """

    @preset(AUC, "auc", pairs="above_0", complement="float64", ties="average", pool="rows", average="row")
    def auc(self) -> AUC:
        """`auc`, src/metric/binary_metric.hpp, which does not look at queries. Run with 4.7.0: equal to 1e-12."""

    @preset(
        AP, "average_precision", k=None, relevant="above_0", divisor="relevant", ties="together", pool="rows",
        average="row",
    )  # fmt: skip
    def average_precision(self) -> AP:
        """`average_precision`, src/metric/binary_metric.hpp, over all rows. Run with 4.7.0: equal to 1e-12."""

    def read(
        self,
        text: str | Mapping[str, Any],
        *,
        label_gain: Sequence[float] | None = None,
        weights: str | None = None,
        **params: Any,
    ) -> Convention:
        """Read what LightGBM computes for one of its metrics.

        Parameters
        ----------
        text : str or mapping
            As in its log, `ndcg@10`; or what `write` returned; or a name whose cutoff is `eval_at=[10]`.
        label_gain : sequence of float, optional
            LightGBM's parameter of that name.
        weights : str, optional
            Which weights the data have; LightGBM's metrics mean the same with any.

        Raises
        ------
        ConventionError
            No ranking metric that is known here, or no cutoff.

        Examples
        --------
        >>> lightgbm.read("ndcg@10", label_gain=[0, 1, 3]) == lightgbm(10, label_gain=[0, 1, 3])
        True
        """
        one_of("weights", weights, ANY_WEIGHTS)
        name, options = spec_of(text, "metric", params)
        label_gain = options.pop("label_gain", label_gain)
        gains = {} if label_gain is None else {"label_gain": label_gain}
        if not isinstance(name, str):
            raise self._unknown(name)
        if name in ("auc", "average_precision"):
            no_others(name, {**options, **gains}, ())
            return self.auc() if name == "auc" else self.average_precision()
        base, at, digits = name.partition("@")
        if base not in {"ndcg", "map"}:
            raise self._unknown(name)
        no_others(name, options, () if at else ("eval_at",))
        k = cut(digits) if at else _only(options.get("eval_at"))
        if k is None:
            raise ConventionError(f"{name!r:.80} has no cutoff.", hint="'ndcg@10', or eval_at=[10]")
        no_others(name, gains, ("label_gain",) if base == "ndcg" else ())
        cutoff = None if k >= MOST_ROWS else k
        return self(cutoff, label_gain=label_gain) if base == "ndcg" else self.map(cutoff)

    def nearest(self, convention: Convention) -> Convention:
        """Give the nearest convention that LightGBM computes."""
        convention = as_convention(convention)
        nearest = super().nearest(convention)
        if not isinstance(convention, NDCG):
            return nearest
        # It takes whole labels from 0 on only, where gains of several names agree.
        return nearest.replace(gain=convention.gain, average="query-except-empty" if convention.empty else "query")

    def spell(self, convention: Any) -> dict[str, Any]:
        """Give `metric`, `eval_at` and, where it is not the default, `label_gain`."""
        call = self._call(convention)
        if convention.over == "rows":
            return {"metric": call.metric}
        gains = call.arguments.get("label_gain")
        return {
            "metric": call.metric,
            "eval_at": [min(convention.k or MOST_ROWS, MOST_ROWS)],
            **({} if gains is None else {"label_gain": list(gains)}),
        }


def _only(eval_at: object) -> int | None:
    several: list[Any] = [eval_at] if not isinstance(eval_at, Sequence) else list(eval_at)
    return int(several[0]) if len(several) == 1 and is_whole(several[0]) and several[0] > 0 else None


lightgbm = LightGBM()
