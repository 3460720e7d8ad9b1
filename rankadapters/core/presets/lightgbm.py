"""LightGBM's ranking metrics."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from numbers import Real
from typing import Any, ClassVar

from rankadapters.core.declaration.convention import Convention
from rankadapters.core.declaration.number_fields import is_whole
from rankadapters.core.declaration.spelling import number, table
from rankadapters.core.errors import ConventionError
from rankadapters.core.measures import AP, AUC, NDCG
from rankadapters.core.presets.tool import ANY_WEIGHTS, Vocabulary, cut, measure, no_others, one_of, spec_of

LABELS = 31  # default gains end there
MOST_ROWS = 10_000  # of a query
NAMES = {"ndcg": "ndcg", "ap": "map"}  # of the metrics with a cutoff


class LightGBM(Vocabulary[dict[str, Any]]):
    """LightGBM 4.6 and 4.7 `ndcg`, src/metric/rank_metric.hpp. Run with 4.6.0 and 4.7.0: equal to 1e-12.

    LightGBM adds 1 for a query with nothing relevant whatever its weight, but divides by all weights. A query weighs
    the float32 mean of its row weights. Its labels end at 30, or where `label_gain` ends.
    """

    name: ClassVar[str] = "lightgbm"
    title: ClassVar[str] = "LightGBM"

    def __call__(self, k: int | None, *, label_gain: Sequence[float] | None = None) -> NDCG:
        """Give `ndcg`.

        Parameters
        ----------
        k : int or None
            One of LightGBM's `eval_at`.
        label_gain : sequence of float, optional
            LightGBM's parameter of that name; it must not decrease. None is its default, 2^l - 1.
        """
        found = NDCG(
            k=k, gain="exp2", discount="log2", ideal="cutoff", ties="input", precision="float64",
            short="pad", empty=1, missing="error", unjudged="error", average="query-except-empty",
        ).named(self.name)  # fmt: skip
        return found if label_gain is None else found.replace(gain=_table_of(label_gain))

    @measure
    def map(self, k: int | None) -> AP:
        """`map@k`, src/metric/map_metric.hpp. Run with 4.7.0: equal to 1e-12.

        A query without relevant rows counts 1. A query weighs the float32 mean of its row weights, unlike in `ndcg`
        also where it is empty.
        """
        return AP(
            k=k, relevant="above_0.5", divisor="cutoff", ties="input", precision="float64", retrieve="all",
            short="pad", empty=1, missing="error", unjudged="error", pool="queries", average="query",
        ).named("lightgbm.map")  # fmt: skip

    @measure
    def auc(self) -> AUC:
        """`auc`, src/metric/binary_metric.hpp, which does not look at queries. Run with 4.7.0: equal to 1e-12."""
        return AUC(
            pairs="above_0", complement="float64", ties="average", precision="float64", empty=1,
            missing="error", unjudged="error", pool="rows", average="row",
        ).named("lightgbm.auc")  # fmt: skip

    @measure
    def average_precision(self) -> AP:
        """`average_precision`, src/metric/binary_metric.hpp, over all rows. Run with 4.7.0: equal to 1e-12."""
        return AP(
            k=None, relevant="above_0", divisor="relevant", ties="together", precision="float64", retrieve="all",
            short="pad", empty=1, missing="error", unjudged="error", pool="rows", average="row",
        ).named("lightgbm.average_precision")  # fmt: skip

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
        if isinstance(name, str) and name in self._whole():
            no_others(name, options if label_gain is None else {"label_gain": label_gain}, ())
            return self._whole()[name]()
        base, at, digits = str(name).partition("@")
        make = self._ranked().get(base)
        if make is None:
            raise self._unknown(name)
        no_others(name, options, () if at else ("eval_at",))
        k = cut(digits) if at else _only(options.get("eval_at"))
        if k is None:
            msg = f"{name!r:.80} has no cutoff.\nHint: 'ndcg@10', or eval_at=[10]."
            raise ConventionError(msg)
        if label_gain is not None and base != "ndcg":
            no_others(name, {"label_gain": label_gain}, ())
        if base == "ndcg":
            return self(None if k >= MOST_ROWS else k, label_gain=label_gain)
        return make(None if k >= MOST_ROWS else k)

    def nearest(self, convention: Convention) -> Convention:
        """Give the nearest convention that LightGBM computes."""
        if not isinstance(convention, NDCG):
            return self._nearest_other(convention)
        gains = _gains(convention.gain)
        plain = convention.gain.startswith(("exp2", "linear"))
        nearest = self(convention.k, label_gain=None if plain else gains)
        # It takes whole labels from 0 on only, where gains of several names agree.
        average = "query-except-empty" if convention.empty else "query"
        return nearest.replace(gain=convention.gain, average=average)

    def spell(self, convention: Any) -> dict[str, Any]:
        """Give `metric`, `eval_at` and, where it is not the default, `label_gain`."""
        if convention.over == "rows":
            return {"metric": next(metric for metric, make in self._whole().items() if convention == make())}
        k = min(convention.k or MOST_ROWS, MOST_ROWS)
        gains = _gains(getattr(convention, "gain", "exp2"))
        return {
            "metric": NAMES[convention.measure],
            "eval_at": [k],
            **({} if gains is None else {"label_gain": list(gains)}),
        }

    def _ranked(self) -> dict[str, Callable[[int | None], Convention]]:
        """Metrics with a cutoff."""
        return {"ndcg": self, "map": self.map}

    def _whole(self) -> dict[str, Callable[[], Convention]]:
        """Metrics without one."""
        return {"auc": self.auc, "average_precision": self.average_precision}

    def _nearest_other(self, convention: Convention) -> Convention:
        """Nearest of a measure other than NDCG; NDCG where there is none."""
        k = getattr(convention, "k", None)
        candidates = [*(make(k) for make in self._ranked().values()), *(make() for make in self._whole().values())]
        same = [found for found in candidates if found.measure == convention.measure]
        return min(same or [self(k)], key=lambda found: len(found.diff(convention)))


def _gains(gain: str) -> tuple[float, ...] | None:
    """Gains to be told LightGBM; None where they are its default."""
    return tuple(map(float, range(LABELS))) if gain.startswith("linear") else table(gain)


def _table_of(label_gain: Sequence[float]) -> str:
    listed = isinstance(label_gain, Iterable) and not isinstance(label_gain, str)
    if not listed or not all(isinstance(gain, Real) and abs(gain) <= sys.float_info.max for gain in label_gain):
        msg = f"label_gain={label_gain!r:.80} is not a list of finite numbers.\nHint: label_gain=[0, 1, 3]."
        raise ConventionError(msg)
    return "_".join(["table", *map(number, label_gain)])


def _only(eval_at: object) -> int | None:
    several: list[Any] = [eval_at] if not isinstance(eval_at, Sequence) else list(eval_at)
    return int(several[0]) if len(several) == 1 and is_whole(several[0]) and several[0] > 0 else None


lightgbm = LightGBM()
