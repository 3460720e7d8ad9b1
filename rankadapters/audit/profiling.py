"""Profile judged queries: their traits, and how much each field of a convention matters on them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice, product
from typing import Any, Unpack

import numpy as np

from rankadapters import presets
from rankadapters.audit.evaluation import evaluate_usable
from rankadapters.core.arrays import Array, Flags
from rankadapters.core.classes import frozen_class
from rankadapters.core.data.columns import Columns, non_finite
from rankadapters.core.data.queries import Queries, as_queries, describes_columns
from rankadapters.core.declaration.arguments import members
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.declaration.fields import as_cutoff
from rankadapters.core.declaration.guesses import PROFILE, shows_call
from rankadapters.core.errors import ConventionError, InputError
from rankadapters.evaluation.table import Cell, Table, fixed
from rankadapters.progress import shows
from rankadapters.statistics.cells import percent, spelled
from rankadapters.statistics.document import Document, fields_as_dict
from rankadapters.statistics.grid import grid, measure_named, replaced

Cutoffs = tuple[int | None, ...]

CUTOFFS = (1, 3, 5, 10, 20, None)  # the cutoffs to try, in addition to the requested cutoffs
RANDOM = {"ties": "average"}  # if all scores are equal, this gives the expectation over all rankings
LARGEST_EXPONENT = 1024  # 2 to this power overflows float64
MANY_GRADES = 5  # the first label to warn about; the largest public data sets have the labels 0..4
LIGHTGBM_LABELS = 30  # the largest label with a default gain in LightGBM
LARGE_SHARE = 0.5  # the share of short queries above which there is a warning
NOISE = 1e-9  # smaller differences may come from the order of summation alone

TRAITS = {  # of queries; {} is the cutoff
    "empty": "nothing relevant (empty)",
    "short": "fewer than {} rows (short)",
    "single_document": "one document",
    "all_equal": "all labels equal",
    "tied": "tied scores",
    "tied_at_cut": "a tie of different labels at the cut {}",
}


@frozen_class
@dataclass(frozen=True, kw_only=True, slots=True)
class Effect:
    """The largest change of a value when one field of a preset is varied.

    Attributes
    ----------
    field : str
        The varied field.
    change : float
        Largest value minus smallest.
    lowest, highest : str
        The field's values that give the smallest and the largest value.
    convention : Convention
        The preset in which the field was varied.
    """

    field: str
    change: float
    lowest: str
    highest: str
    convention: Convention

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as plain JSON types, with the convention as `signature`, and its `name`."""
        fields = fields_as_dict(self)
        signature = fields.pop("convention")
        return {**fields, "name": self.convention.name, "signature": signature}


@frozen_class
@dataclass(frozen=True, kw_only=True, slots=True)
class DataProfile(Document):
    """Traits of judged queries, and how much each field of a convention changes a value; made by `profile`.

    Attributes
    ----------
    k : tuple of int or None
        The requested cutoffs.
    n_queries, n_docs, longest : int
        Number of queries, number of rows, and number of rows in the largest query.
    shares : dict of str to (float or None)
        Share of the queries with each trait: `empty` (no label is above 0), `short@k` (fewer than k retrieved rows),
        `single_document` (one judged row), `all_equal` (equal labels, including queries of a single document), `tied`
        (two retrieved rows have equal scores; None without scores), and, with scores, `tied_at_cut@k` (tied rows with
        different labels are on both sides of the cutoff).
    labels : dict of float to int
        Number of rows with each label.
    random : dict of Convention to float
        Expected value of a random ranking at each cutoff, under the measure's first preset that allows `ties="average"`
        and has a value on the data; empty if none has.
    measure : str
        The measure whose fields were varied, as named in signatures.
    effects : tuple of Effect
        The largest change that each field makes on this data, largest first.
    warnings : tuple of str
        Known pitfalls of this data, each with its reason.
    """

    k: Cutoffs
    n_queries: int
    n_docs: int
    longest: int
    shares: dict[str, float | None]
    labels: dict[float, int]
    random: dict[Convention, float]
    measure: str
    effects: tuple[Effect, ...]
    warnings: tuple[str, ...]

    def blocks(self) -> list[str | Table]:
        """Return the size, the value of a random ranking, the tables, and the warnings."""
        return [*self.sentences(), *self.tables(), *(f"Warning: {warning}" for warning in self.warnings)]

    def sentences(self) -> tuple[str, ...]:
        """Return the numbers of queries and rows, and the expected value of a random ranking, if there is one."""
        size = f"{self.n_queries} queries, {self.n_docs} rows, up to {self.longest} in a query"
        values = ", ".join(f"{fixed(value, 4)} ({convention.name})" for convention, value in self.random.items())
        return size, *([f"A random ranking is expected to reach {values}."] if values else [])

    def tables(self) -> tuple[Table, ...]:
        """Return the tables of shares, labels and effects."""
        shares = []
        for name, share in self.shares.items():
            trait, _, cutoff = name.partition("@")
            shares.append((TRAITS[trait].format(cutoff), "-" if share is None else percent(share)))
        n_rows = sum(self.labels.values())
        labels = [(spelled(label), str(n), percent(n / n_rows)) for label, n in self.labels.items()]
        basis = "expected of random rankings" if self.shares["tied"] is None else "of these scores"
        caption = (
            f"Largest change of {self.measure.upper()} that each field makes, {basis}, all else being one preset's"
        )
        effects = [(e.field, Cell("{:.6f}", e.change), e.lowest, e.highest, e.convention.name) for e in self.effects]
        tables = (
            Table.of("Queries with", ("what", "share"), shares),
            Table.of("Labels", ("label", "rows", "share"), labels),
            Table.of(caption, ("field", "change", "lowest with", "highest with", "in"), effects),
        )
        return tables if effects else tables[:2]

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as plain JSON types; a cutoff is text, as in the keys of `shares`."""
        return {**fields_as_dict(self), "k": list(map(spelled, self.k))}

    def _frame_rows(self) -> list[dict[str, Any]]:
        """Return a row for each effect."""
        return [effect.to_dict() for effect in self.effects]

    def plot(self) -> Any:
        """Return a matplotlib Figure with a bar for each field: the largest change of the value by this field.

        Raises
        ------
        InputError
            No field makes a difference on this data.
        MissingToolkitError
            matplotlib is not installed.
        """
        from rankadapters.plotting.plots import bars

        if not self.effects:
            message = "no field of a convention makes a difference on this data, so there is nothing to draw."
            raise InputError(message, hint="print the profile to see the shares and the labels")
        return bars(
            [(e.field, e.change) for e in self.effects],
            f"largest change of {self.measure.upper()}",
            "What matters on these data",
        )


@describes_columns
@shows_call(PROFILE)
@shows("profiling")
def profile(
    labels: object,
    *,
    k: int | Iterable[int | None] | None,
    scores: object = None,
    measure: str = "ndcg",
    **columns: Unpack[Columns],
) -> DataProfile:
    """Describe judged queries: their traits, and how much each field of a convention matters on them.

    Parameters
    ----------
    labels : array-like, shape (n_docs,), or Queries
        Relevance labels.
    k : int, None or a sequence of these
        Cutoffs to profile; None counts all rows.
    scores : array-like, shape (n_docs,), optional
        Predicted scores. Without scores, effects are those on the expected value of a random ranking, and the effect
        of `ties` is the largest for any scores.
    measure : str
        The measure whose fields are varied, as named in signatures, such as `ndcg` or `ap`.
    qid, group_sizes, query_weight, docid, retrieved, judged
        As in `Queries`.

    Returns
    -------
    DataProfile
        Shares, label histogram, the value of a random ranking, effects of the fields, warnings.

    Raises
    ------
    InputError
        The columns contradict each other, or no preset has a value on the data.
    ConventionError
        A cutoff is not a whole number from 1 on, no cutoff is given, or there is no such measure.

    Examples
    --------
    >>> data = profile([1, 0, 0, 0], k=2, scores=[2.0, 1.0, 1.0, 3.0], group_sizes=[2, 2])
    >>> data.shares["empty"], data.labels, {effect.field: effect.change for effect in data.effects}["empty"]
    (0.5, {0.0: 3, 1.0: 1}, 0.5)
    """
    kind, entries = measure_named(measure), members(k)
    cutoffs = [None if cutoff is None else as_cutoff(cutoff) for cutoff in ([k] if entries is None else entries)]
    if not cutoffs:
        raise ConventionError("no cutoff was given.", hint="pass k=10, or k=None for all rows")
    data_profile = describe_queries(as_queries(labels, **columns), scores, kind, cutoffs)
    if not data_profile.effects:
        message = f"no preset of {kind.__name__} has a value on this data."
        raise InputError(message, hint="ra.evaluate under a preset says why")
    return data_profile


def describe_queries(
    queries: Queries, scores: object, measure: type[Convention], cutoffs: Iterable[int | None]
) -> DataProfile:
    """Describe queries as `profile` does; if no preset has a value, the profile lists no field effects."""
    queries, distinct = queries.weighed_by("query_weight"), tuple(dict.fromkeys(cutoffs))
    checked = None if scores is None else queries.check_scores(scores)
    flags = _label_flags(queries, distinct)
    tie_flags, tied_labels = ({}, None) if checked is None else _tie_flags(queries, checked, distinct)
    judged = slice(None) if queries.judged is None else queries.judged
    values, counts = np.unique(queries.labels[judged], return_counts=True)
    labels: dict[float, int] = dict(zip(values.tolist(), counts.tolist(), strict=True))
    effects = _effects(queries, checked, measure, distinct, graded=not set(labels) <= {0.0, 1.0})
    warnings = [*_unjudged_pitfalls(queries)]
    warnings += _label_pitfalls(labels, all_judged=queries.judged is None or bool(queries.judged.all()))
    warnings += _pitfalls(flags | tie_flags, tied_labels, distinct, effects)
    shares: dict[str, float | None] = {name: float(np.mean(flag)) for name, flag in (flags | tie_flags).items()}
    return DataProfile(
        k=distinct, n_queries=queries.n_queries, n_docs=queries.n_docs, longest=queries.longest,
        shares=shares if tie_flags else {**shares, "tied": None}, labels=labels, measure=measure.measure,
        random=_random_values(queries, measure, distinct), effects=effects, warnings=tuple(warnings),
    )  # fmt: skip


def _label_flags(queries: Queries, cutoffs: Cutoffs) -> dict[str, Flags]:
    """Return which queries have each trait that does not depend on scores, by the names in `DataProfile.shares`."""
    all_rows, query, n_queries = np.ones(queries.n_docs, np.bool_), queries.query_of_row, queries.n_queries
    judged = all_rows if queries.judged is None else queries.judged
    low, high = np.full(n_queries, np.inf), np.full(n_queries, -np.inf)
    np.minimum.at(low, query[judged], queries.labels[judged])
    np.maximum.at(high, query[judged], queries.labels[judged])
    sizes = np.bincount(query if queries.retrieved is None else query[queries.retrieved], minlength=n_queries)
    return {
        "empty": high <= 0,
        **{f"short@{k}": sizes < k for k in cutoffs if k is not None},
        "single_document": np.bincount(query[judged], minlength=n_queries) == 1,
        "all_equal": low >= high,  # also true if nothing is judged
    }


def _tie_flags(queries: Queries, scores: Array, cutoffs: Cutoffs) -> tuple[dict[str, Flags], Flags]:
    """Return which queries have ties, by the names in `DataProfile.shares`, and which have tied rows of two labels."""
    query, n_queries = queries.query_of_row, queries.n_queries
    rows = np.arange(queries.n_docs) if queries.retrieved is None else np.flatnonzero(queries.retrieved)
    invalid = ~np.isfinite(scores[rows])
    if invalid.any():
        raise non_finite("scores", int(rows[np.argmax(invalid)]), scores)
    rows = rows[np.lexsort((-scores[rows], query[rows]))]
    tied_with_next = np.zeros(rows.size, np.bool_)
    tied_with_next[:-1] = (np.diff(query[rows]) == 0) & (np.diff(scores[rows]) == 0)
    mixed = tied_with_next  # whether a row is tied with a row of another label; unjudged rows share a separate one
    if rows.size:
        labels = queries.labels if queries.judged is None else np.where(queries.judged, queries.labels, np.inf)
        starts = np.flatnonzero(np.append(True, ~tied_with_next[:-1]))
        lowest, highest = (extreme.reduceat(labels[rows], starts) for extreme in (np.minimum, np.maximum))
        mixed = np.repeat(lowest != highest, np.diff(starts, append=rows.size))
    flags: dict[str, Flags] = {"tied": np.bincount(query[rows], weights=tied_with_next, minlength=n_queries) > 0}
    sizes = np.bincount(query[rows], minlength=n_queries)
    for k in filter(None, cutoffs):
        longer = np.flatnonzero(sizes > k)
        last = (np.cumsum(sizes) - sizes)[longer] + k - 1
        at_cut = np.zeros(n_queries, np.bool_)
        at_cut[longer] = (tied_with_next & mixed)[last]
        flags[f"tied_at_cut@{k}"] = at_cut
    return flags, np.bincount(query[rows], weights=mixed, minlength=n_queries) > 0


def _effects(
    queries: Queries, scores: Array | None, measure: type[Convention], cutoffs: Cutoffs, *, graded: bool
) -> tuple[Effect, ...]:
    """Return the largest effect that each field has in any preset, largest first.

    If the labels are `graded`, presets for binary labels are left out. If `scores` is None, all documents get the same
    score. The effect of `ties` is then its largest effect for any scores; the other fields are varied in the
    expectation over all rankings (`ties="average"`).
    """
    ranking, changes = (np.zeros(queries.n_docs), RANDOM) if scores is None else (scores, {})
    made = (presets.make(name, k) for name in presets.names(measure.measure) for k in cutoffs)
    distinct = dict.fromkeys(replaced(base, changes) or base for base in made)
    bases = [base for base in distinct if not (graded and base.for_binary_labels)]
    usable = evaluate_usable(queries, ranking, bases)
    usable = usable or evaluate_usable(queries, ranking, _adapted(queries, measure, bases))
    variants = _variants(queries, measure, usable, cutoffs)
    values = evaluate_usable(queries, ranking, (c for choices in variants.values() for c in choices.values()), usable)
    largest: dict[str, Effect] = {}
    for (base, name), choices in variants.items():
        by_value = {value: values[c].value for value, c in choices.items() if c in values}
        lowest, highest = min(by_value, key=by_value.__getitem__), max(by_value, key=by_value.__getitem__)
        effect = Effect(
            field=name, change=by_value[highest] - by_value[lowest], lowest=spelled(lowest), highest=spelled(highest),
            convention=base,
        )  # fmt: skip
        if name not in largest or effect.change > largest[name].change:
            largest[name] = effect
    return tuple(sorted(largest.values(), key=lambda effect: -effect.change))


def _adapted(queries: Queries, measure: type[Convention], bases: Iterable[Convention]) -> Iterator[Convention]:
    """Yield the presets with other values in the fields that need a missing column, such as pairs or docids."""
    choices, kinds = grid(measure, queries), measure.declared()
    for base in bases:
        fitting = {
            name: values[0]
            for name, values in choices.items()
            if not kinds[name].fits(getattr(base, name), queries.columns)
        }
        averages = (base.average, *choices["average"])  # some averages are invalid here
        varied = filter(None, (replaced(base, {**fitting, "average": average}) for average in averages))
        yield from islice(varied, 1)


def _variants(
    queries: Queries, measure: type[Convention], bases: Iterable[Convention], cutoffs: Cutoffs
) -> dict[tuple[Convention, str], dict[Any, Convention]]:
    """Return the variants of each base that differ in one field, by base and field, and then by the field's value."""
    values_by_field = {"k": (*cutoffs, *CUTOFFS), **grid(measure, queries)}
    kinds = {n: kind for n, kind in measure.declared().items() if not kind.column or kind.column in queries.columns}
    variants: dict[tuple[Convention, str], dict[Any, Convention]] = {}
    for base, name in product(bases, kinds):
        choices = {value: replaced(base, {name: value}) for value in (getattr(base, name), *values_by_field[name])}
        valid = {value: variant for value, variant in choices.items() if variant is not None}
        if len(valid) > 1:  # of a single value, nobody knows the effect
            variants[base, name] = valid
    return variants


def _random_values(queries: Queries, measure: type[Convention], cutoffs: Cutoffs) -> dict[Convention, float]:
    """Return the expected value of a random ranking at each cutoff, under the measure's first preset that has one."""
    # The second changes are for presets that ignore query weights.
    for name, changes in product(presets.names(measure.measure), (RANDOM, RANDOM | {"average": "query"})):
        bases = [presets.make(name, k) for k in cutoffs]
        if any("k" in base.fields() and base.get("k") != k for base, k in zip(bases, cutoffs, strict=True)):
            continue  # such as a preset without a cutoff
        conventions = filter(None, (replaced(base, changes) for base in bases))
        values = evaluate_usable(queries, np.ones(queries.n_docs), conventions)  # a row of score 0 may not count
        if values:
            return {convention: score.value for convention, score in values.items()}
    return {}


def _unjudged_pitfalls(queries: Queries) -> Iterator[str]:
    if not queries.judged_share:
        n_retrieved = queries.n_docs if queries.retrieved is None else np.count_nonzero(queries.retrieved)
        yield (
            f"none of the {n_retrieved} retrieved documents is judged, so every measure of what was found is 0 or has "
            "no value. The results and the judgments may name documents differently."
        )


def _label_pitfalls(labels: dict[float, int], *, all_judged: bool) -> Iterator[str]:
    highest, lowest = max(labels, default=0.0), min(labels, default=0.0)
    if highest >= MANY_GRADES:
        n_documents = f"{2.0**highest - 1:.4g}" if highest < LARGEST_EXPONENT else "more than float64 holds in"
        yield (
            f"labels go up to {spelled(highest)}: under exponential gain one such document is worth "
            f"{n_documents} documents of label 1, so that a few documents decide the value. "
            "A linear gain, or a table of gains, gives the other labels more weight."
        )
    if highest > LIGHTGBM_LABELS:
        yield f"labels above {LIGHTGBM_LABELS} have no default gain in LightGBM: set label_gain, or it refuses them."
    if lowest > 0 and all_judged:
        yield (
            f"no row is irrelevant: the lowest label is {spelled(lowest)}. Measures of relevant rows, such as AP and "
            "recall, then count every row as relevant, and the NDCG of any ranking is high. If the irrelevant rows "
            "were left out, add them with label 0. If the lowest grade means irrelevant, subtract it from all labels."
        )


def _pitfalls(
    flags: dict[str, Flags], tied_labels: Flags | None, cutoffs: Cutoffs, effects: tuple[Effect, ...]
) -> Iterator[str]:
    if len(cutoffs) > 1:
        yield (
            f"values at different cutoffs ({', '.join(map(spelled, cutoffs))}) are different measures, and their order "
            "says nothing. Compare models at one cutoff."
        )
    for k in filter(None, cutoffs):
        share = float(np.mean(flags[f"short@{k}"]))
        if share > LARGE_SHARE:
            yield (
                f"k = {k} is larger than {percent(share)} of the queries: in them no document is "
                "cut off, and a convention with short=zero or short=skip ignores their ranking."
            )
    change = {effect.field: effect.change for effect in effects}.get("ties", 0.0)
    consequence = f", which changes the value here by up to {fixed(change, 4)}" if change > NOISE else ""
    at_cut = {
        name.partition("@")[2]: tied for name, tied in flags.items() if name.startswith("tied_at_cut") and tied.any()
    }
    for cut, tied in at_cut.items():
        yield (
            f"in {_counted(tied)} rows of different labels tie across the "
            f"cut at {cut}: the convention's field `ties` decides which of them count{consequence}."
        )
    if tied_labels is not None and change > NOISE and not at_cut:
        rows = "rows of different labels tie"
        yield (
            f"{f'in {_counted(tied_labels)} {rows}' if tied_labels.any() else f'rounded to float32, {rows}'}, none of "
            f"them across a cut: the convention's field `ties` decides the order in which they count{consequence}."
        )
    if flags["all_equal"].any():
        yield (
            f"{_counted(flags['all_equal'])} have equal labels throughout: "
            "every ranking of them is equally good. A ranker learns nothing from them, and they add a constant to the "
            "mean. If they have nothing relevant, the convention's field `empty` decides that constant."
        )


def _counted(queries_with: Flags) -> str:
    return f"{int(queries_with.sum())} queries ({percent(float(queries_with.mean()))})"
