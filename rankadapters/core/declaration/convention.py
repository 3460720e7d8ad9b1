"""Conventions: they declare everything that decides the value of a ranking measure; no field has a default."""

from __future__ import annotations

import hashlib
import math
import sys
from abc import abstractmethod
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar, Self

from rankadapters.core.declaration.declared import Declared
from rankadapters.core.declaration.fields import Field, Range, border
from rankadapters.core.errors import ConventionError, choices

GEOMETRIC = "geometric"

AVERAGE = Field(
    group="average",
    about="How the queries' values become one.",
    rarity=3,
    words={
        "uniform": "every query counts the same; giving weights is an error, a toolkit's own weights are ignored",
        "query": "queries count by `query_weight`, 1 each when absent",
        "query-except-empty": "an empty query adds its value unweighted while its weight stays in the divisor, as in "
        "LightGBM and XGBoost",
        "row": "every query counts the same, and inside a query a row counts by `row_weight`, 1 each when absent",
        "pair": "every pair counts by its weight in `pairs`, 1 each when absent",
    },
    numbered={GEOMETRIC: "exp of the mean of log max(value, B), every query alike, as in trec_eval's gm_map"},
    ranges={GEOMETRIC: Range(0, 1, above=True)},
    tried=("uniform", "query", "query-except-empty"),
    ignores={"uniform": "query_weight", GEOMETRIC: "query_weight"},
)
POOL = Field(
    group="pool",
    about="What the sums run over.",
    words={
        "queries": "the mean of the queries' values",
        "pairs": "the pairs of all queries: the ratio of two sums",
        "rows": "all rows as one query, in the caller's order",
        "sums": "the hits of all queries, divided by the sum of their divisors: a micro average",
    },
)


def average_of(*words: str, geometric: bool) -> Field:
    """Return the field `average`, restricted to the words that a measure allows."""
    return replace(AVERAGE.narrowed(words), numbered=AVERAGE.numbered if geometric else {})


# `average` for measures that average per-query values.
Mean = Annotated[str, average_of("uniform", "query", "query-except-empty", geometric=True)]

# What a measure without a field is taken to declare, by the field's name.
ABSENT: Mapping[str, Any] = {
    "count": "first",
    "discount": "reciprocal",
    "empty": None,  # nor does any query count as empty
    "gain": "",
    "ideal": None,
    "k": None,
    "missing": "zero",
    "pairs": None,
    "pool": "queries",
    "relevant": None,
    "retrieve": "all",
    "short": "pad",
    "ties": "",  # no order of ties
}
_WEIGHTS = {"query": "query_weight", "query-except-empty": "query_weight", "row": "row_weight", "pair": "pair_weight"}


@dataclass(frozen=True, kw_only=True, slots=True)
class Convention(Declared):
    """Everything that decides the value of a measure: a frozen value whose fields must all be declared.

    Only a field with an implied value may be left out, such as `count` of RR; signatures leave that value out.
    Conventions with the same meaning are equal and have the same hash. To ensure this, a field that cannot matter is
    set to a fixed value: `k=None` sets `short="pad"`, and `empty=0` turns `query-except-empty` into `query`.
    `str(convention)` is its signature, and `parse(str(convention)) == convention`.
    """

    noun: ClassVar[str] = "measure"
    start: ClassVar[str] = (
        'a preset, such as ra.parse("lightgbm.map@10").replace(...); `rankadapters conventions --measure ap` lists '
        "those of a measure"
    )
    uses: ClassVar[str] = (
        "ra.evaluate(labels, scores, conv, qid=qid), ra.lightgbm.eval_metric(conv), ra.xgboost.eval_metric(conv), "
        "ra.catboost.eval_metric(conv, pools) or ra.sklearn.query_scorer(conv)"
    )
    measure: ClassVar[str]
    higher_is_better: ClassVar[bool] = True
    in_unit_interval: ClassVar[bool] = True  # whether values are in [0, 1] if no label is negative
    # By pool, the averages that have a meaning; of queries, all but that of pairs.
    averages: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "pairs": ("uniform", "query", "pair"),
        "rows": ("uniform", "query", "row"),
        "sums": ("uniform", "query"),
    }

    average: Annotated[str, AVERAGE]

    @abstractmethod
    def lower(self, binding: Any) -> Any:
        """Lower the convention to a plan (`binding/plans.py`) that computes it on bound queries."""

    def get(self, field: str) -> Any:
        """Return the value of a field; for a measure without it, what `ABSENT` says."""
        return getattr(self, field, ABSENT[field])

    def unify(self) -> None:
        """Set each field that cannot matter to a fixed value, so that equivalent conventions are equal."""
        if self.get("empty") == 0 and self.average == "query-except-empty":
            self._set("average", "query")
        if hasattr(self, "pool"):
            self._unify_pool()
        if self.average == "pair" and self.get("pairs") not in {None, "given"}:
            raise ConventionError("average='pair' needs pairs='given'.", hint="average='query', or pairs='given'")

    def _unify_pool(self) -> None:
        """Refuse an average without a meaning; if one ratio is computed, `empty` only counts if it has no divisor."""
        kind = self.declared()["average"]
        allowed = self.averages.get(self.over) or [word for word in (*kind.words, *kind.numbered) if word != "pair"]
        if self.average.partition("_")[0] not in allowed:
            fields = f"average={self.average!r} means nothing with pool={self.over!r}"
            raise ConventionError(f"{fields}; allowed are {choices(allowed)}.")
        if self.over != "queries" and self.get("empty") == "skip":
            self._set("empty", "error")  # if all that is averaged is skipped, nothing is left

    @property
    def over(self) -> str:
        """The value of the field `pool`; `queries`, the mean of their values, for a measure without it."""
        return str(self.get("pool"))

    @property
    def value_of_nothing(self) -> float | None:
        """The value where no query has a pair, or anything to find: `empty` of a pooled measure; None for no value."""
        empty = self.get("empty")
        return empty if self.pooled and isinstance(empty, float) else None

    @property
    def pooled(self) -> bool:
        """Whether one ratio is computed for all queries, after summing numerators and denominators over them."""
        return self.over in {"pairs", "sums"}

    def worth(self, value: float) -> float:
        """Return a number that is higher for better values: the value itself, or its negative if lower is better."""
        return value if self.higher_is_better else -value

    @property
    def weighting(self) -> str | None:
        """Name of the weights that the average uses: query_weight, row_weight or pair_weight; None for no weights."""
        return _WEIGHTS.get(self.average)

    @property
    def floor(self) -> float | None:
        """Floor of a geometric mean, which replaces smaller values of queries; None for other averages."""
        bound = border(self.average) if self.average.startswith(GEOMETRIC) else None
        return None if bound is None else bound[1]

    @property
    def is_sum(self) -> bool:
        """Whether the value is a sum of contributions, one per query."""
        return self.over != "rows" and self.floor is None

    def limits(self) -> tuple[float, float]:
        """Return the least and the greatest value that data can give; infinite if there is none."""
        low, high = self.limits_of_queries()
        if self.average == "query-except-empty":  # counts empty queries without weights, so it is no weighted mean
            return -math.inf if low < 0 else low, math.inf
        return low, max(high, self.floor or 0.0)

    def limits_of_queries(self) -> tuple[float, float]:
        """Return the limits of the values that are averaged."""
        return (0.0, 1.0) if self.in_unit_interval else (-math.inf, math.inf)

    def all_retrieved(self) -> Self:
        """Return an equivalent convention for data in which every row is retrieved, as inside a toolkit."""
        return self

    @property
    def for_binary_labels(self) -> bool:
        """Whether the value means nothing for labels other than 0 and 1."""
        return False

    def doubt(self, labels: Any) -> tuple[Any, str] | None:
        """Return a mask of the labels that the measure accepts but is not meant for, and why; None without any."""
        del labels
        return None

    def link(self, mean: float) -> float:
        """Return the measure's value, given the ratio of its two sums: the ratio itself, or exp(ratio)."""
        return mean if self.floor is None else math.exp(mean)

    def link_slope(self, value: float) -> float:
        """Return the derivative of `link` at the ratio for which `link` returns `value`."""
        return 1.0 if self.floor is None else value

    @property
    def name(self) -> str:
        """Display name: `measure@k/`, then the preset with the fields that differ from it, or 7 digits of a SHA-256.

        `ra.parse` can read the name if it has a preset. A name that the caller gave replaces it.

        >>> from rankadapters import presets
        >>> presets.catboost(10, type="Exp").name, presets.yahoo(10).replace(empty=0).name
        ('ndcg@10/catboost+gain=exp2', 'ndcg@10/yahoo+empty=0')
        """
        if self.label is not None:
            return self.label
        head = str(self).partition("/")[0]
        return f"{head}/{self._preset_text() or hashlib.sha256(str(self).encode()).hexdigest()[:7]}"

    @property
    def short_name(self) -> str:
        """The shortest text that `ra.parse` can read: preset, cutoff and changed fields, or the signature.

        >>> from rankadapters import presets
        >>> presets.yahoo(10).replace(empty=0).short_name
        'yahoo@10+empty=0'
        """
        preset, plus, changes = self._preset_text().partition("+")
        _, at, k = str(self).partition("/")[0].partition("@")
        return f"{preset}{at}{k}{plus}{changes}" if preset else str(self)

    def named(self, preset: str) -> Self:
        """Return the convention with the name of a preset; equality and signature ignore that name."""
        named = self._copy({})
        named._set("_preset", (preset, self if self.preset is None else self._copy({})))  # noqa: SLF001 - of the same class
        return named

    def called(self, label: str) -> Self:
        """Return the convention with a display name of the caller's, which equality and signature ignore.

        A convention that `replace` or `at` returns has no such name, since it is another convention.

        >>> from rankadapters import presets
        >>> ours = presets.yahoo(10).called("web")
        >>> ours.name, ours == presets.yahoo(10), ours.at(5).name
        ('web', True, 'ndcg@5/yahoo')
        """
        called = self._copy({})
        if self.preset is not None:
            called._set("_preset", self.preset)  # noqa: SLF001 - of the same class
        called._set("_label", label)  # noqa: SLF001 - as above
        return called

    def replace(self, **fields: object) -> Self:
        """Return the convention with some fields changed; its name is the preset's plus the changed fields."""
        changed = Declared.replace(self, **fields)
        text, preset = self.preset or ("", changed)
        k, preset_k = changed.get("k"), preset.get("k")
        if text and (preset_k is not None or k is None):  # a preset made with k=None hides its value of `short`
            changed._set("_preset", (text, preset if preset_k == k else preset.replace(k=k)))  # noqa: SLF001 - as above
        return changed

    def at(self, k: int | None) -> Self:
        """Return the convention at a different cutoff.

        The result keeps the name of its preset, unless the preset's cutoff was None: such a preset does not declare
        what short queries count.
        """
        return self.replace(k=k)

    def diff(self, other: Declared | str) -> dict[str, tuple[Any, Any]]:
        """Return the fields that differ, with both values; None if a convention does not have the field.

        >>> from rankadapters import presets
        >>> presets.lightgbm(10).diff(presets.yahoo(10))
        {'average': ('query-except-empty', 'uniform')}
        """
        package = sys.modules[__name__.partition(".")[0]]  # reads texts, since this module knows no measure
        return Declared.diff(self, other if isinstance(other, Convention) else package.parse(other))

    def _preset_text(self) -> str:
        """Return the preset's text, plus the fewest changes that turn the preset into this convention."""
        if self.preset is None:
            return ""
        text, preset = self.preset
        changes = {name: value for name, (value, _) in self.diff(preset).items()}
        for omitted in list(changes):  # omit a change that follows from the remaining changes
            fewer = {name: value for name, value in changes.items() if name != omitted}
            with suppress(ConventionError):  # the remaining changes may contradict other fields
                changes = fewer if Declared.replace(preset, **fewer) == self else changes
        kinds = self.declared()
        return "+".join([text, *(f"{name}={kinds[name].spell(value)}" for name, value in changes.items())])

    @classmethod
    def _refuse_positional(cls) -> ConventionError:
        return ConventionError(
            f"{cls.__name__} is a convention: it takes its fields as keywords and no data.",
            hint=f"ra.evaluate(labels, scores, ra.{cls.__name__}(...), qid=qid)",
        )
