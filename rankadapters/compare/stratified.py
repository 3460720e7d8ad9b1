"""Test whether differences between methods could be chance, by paired tests that are stratified by data set."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankadapters.core.data.queries import Queries
from rankadapters.core.declaration.arguments import number, seed, whole
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.errors import InputError, RankAdaptersError
from rankadapters.core.evaluation.evaluator import Evaluator
from rankadapters.core.evaluation.table import Table
from rankadapters.plotting.bars import Interval, intervals
from rankadapters.presets.texts import as_convention
from rankadapters.progress import Progress, shows, steps
from rankadapters.statistics.cells import signed
from rankadapters.statistics.document import Document
from rankadapters.statistics.multiple_tests import holm
from rankadapters.statistics.paired_tests import paired_tests

Floats = NDArray[np.float64]
Shares = dict[str, dict[str, Floats]]  # what each query adds to the value, by data set and method


@dataclass(frozen=True, slots=True)
class StratifiedComparison:
    """The comparison of two methods over the data sets on which both methods have scores.

    Attributes
    ----------
    first, second : str
        The methods.
    datasets : tuple of str
        Data sets on which both have scores.
    difference : float
        Value of the first minus that of the second, averaged over these data sets.
    low, high : float
        Ends of the bootstrap interval, which samples the queries of each data set separately.
    p_value, p_corrected : float
        P-value of the two-sided paired randomization test, and after Holm's correction over all comparisons.
    """

    first: str
    second: str
    datasets: tuple[str, ...]
    difference: float
    low: float
    high: float
    p_value: float
    p_corrected: float


@dataclass(frozen=True, kw_only=True, slots=True)
class StratifiedReport(Document):
    """Comparison of methods over several data sets under one convention; made by `stratified_tests`.

    Attributes
    ----------
    convention : Convention
        The convention of all values.
    values : dict of str to dict of str to float
        Values by method and data set.
    comparisons : tuple of StratifiedComparison
        Comparisons of every pair of methods that share a data set.
    confidence : float
        Confidence of the intervals; the level of the tests is 1 minus it.
    """

    convention: Convention
    values: dict[str, dict[str, float]]
    comparisons: tuple[StratifiedComparison, ...] = field(repr=False)
    confidence: float

    def blocks(self) -> list[str | Table]:
        """Return a table of the differences, and the signature."""
        head = (
            "methods", "ahead", "data sets", "difference", f"{100 * self.confidence:g} % interval", "p", "p (Holm)",
            "significant",
        )  # fmt: skip
        lines = [self._line(comparison) for comparison in self.comparisons]
        table = Table.of("Differences of the means over the data sets that both have", head, lines)
        return [table, f"{self.convention.name}: {self.convention}"]

    def plot(self) -> Any:
        """Return a matplotlib Figure of the differences with their intervals; insignificant differences are gray.

        Raises
        ------
        MissingToolkitError
            matplotlib is not installed.
        """
        level = 1 - self.confidence
        differences = [
            Interval(f"{c.first} - {c.second}", c.difference, c.low, c.high, c.p_corrected <= level)
            for c in self.comparisons
        ]
        percent = f"{100 * self.confidence:g} %"
        return intervals(differences, f"difference of {self.convention.name}, {percent} interval")

    def _line(self, c: StratifiedComparison) -> tuple[str, ...]:
        lead = self.convention.worth(c.difference)
        ahead = "-" if lead == 0 else c.first if lead > 0 else c.second
        return (
            f"{c.first}, {c.second}", ahead, str(len(c.datasets)), signed(c.difference),
            f"{signed(c.low)} to {signed(c.high)}", f"{c.p_value:.4f}", f"{c.p_corrected:.4f}",
            "yes" if c.p_corrected <= 1 - self.confidence else "no",
        )  # fmt: skip

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON types."""
        return {
            "convention": str(self.convention),
            "values": self.values,
            "comparisons": [{**asdict(c), "datasets": list(c.datasets)} for c in self.comparisons],
            "confidence": self.confidence,
        }


@shows("comparing the methods")
def stratified_tests(
    datasets: Mapping[str, Queries],
    scores: Mapping[str, Mapping[str, object]],
    convention: Convention | str,
    *,
    n_resamples: int = 9999,
    confidence: float = 0.95,
    random_state: object = 0,
    progress: Progress = True,
) -> StratifiedReport:
    """Test the differences of methods over several data sets with equal weight.

    The statistic is the difference of two methods, averaged over the data sets. The randomization test swaps the two
    methods within queries; the bootstrap interval samples the queries of each data set separately. These are the tests
    of `audit.order`.

    Parameters
    ----------
    datasets : mapping of str to Queries
        Labels by data set.
    scores : mapping of str to mapping of str to array-like, shape (n_docs,)
        Scores by data set, then by method; a method may lack scores on some data sets.
    convention : Convention or str
        The convention of the values; it must be a sum over the queries.
    n_resamples : int
        Number of resamples of each test and each interval.
    confidence : float
        Confidence of the intervals, between 0 and 1.
    random_state : int, Generator or RandomState
        A seed, or a generator that draws one; the same seed gives the same report.
    progress : bool or callable
        True shows a bar on a terminal; a function is called with the number of tested pairs and of all pairs.

    Raises
    ------
    InputError
        A data set has no labels or no scores, no two methods share a data set, or a number is out of range.
    UnsupportedConventionError
        The convention's value is not a sum over the queries.

    References
    ----------
    Smucker, Allan, Carterette (2007), A comparison of statistical significance tests for information retrieval
    evaluation, CIKM.

    Examples
    --------
    >>> import rankadapters as ra
    >>> datasets = {name: ra.Queries([1, 0, 0, 1], group_sizes=[2, 2]) for name in ("D1", "D2")}
    >>> scores = {name: {"a": [2, 1, 1, 2], "b": [1, 2, 1, 2]} for name in datasets}
    >>> report = stratified_tests(datasets, scores, "textbook@1")
    >>> report.comparisons[0].difference, report.comparisons[0].p_value
    (0.5, 0.5)
    """
    declared = as_convention(convention)
    _require_same_datasets(datasets, scores)
    options: dict[str, Any] = {
        "n_resamples": whole("n_resamples", n_resamples, hint="n_resamples=9999"),
        "confidence": number("confidence", confidence, least=0, most=1, above=True, below=True, hint="confidence=0.95"),
        "seed": seed(random_state),
    }
    shares, step = _shares(datasets, scores, declared), steps(progress)
    methods = list(dict.fromkeys(method for by_method in shares.values() for method in by_method))
    pairs, comparisons = _pairs(shares, methods), []
    for n_done, pair in enumerate(pairs, 1):
        comparisons.append(_compare(shares, *pair, **options))
        step(n_done, len(pairs))
    corrected = holm([comparison.p_value for comparison in comparisons])
    values = {
        method: {name: float(by_method[method].sum()) for name, by_method in shares.items() if method in by_method}
        for method in methods
    }
    return StratifiedReport(
        convention=declared, values=values, confidence=options["confidence"],
        comparisons=tuple(replace(c, p_corrected=p) for c, p in zip(comparisons, corrected, strict=True)),
    )  # fmt: skip


def _require_same_datasets(datasets: Mapping[str, Queries], scores: Mapping[str, Mapping[str, object]]) -> None:
    for noun, by_dataset in (("datasets", datasets), ("scores", scores)):
        if not isinstance(by_dataset, Mapping):
            msg = f"{noun} is of type {type(by_dataset).__name__}.\nHint: a mapping by names of data sets."
            raise InputError(msg)
    for name in {**datasets, **scores}:
        if name not in datasets or name not in scores:
            noun = "labels" if name not in datasets else "scores"
            msg = f"data set {name!r} has no {noun}.\nHint: datasets and scores name the same data sets."
            raise InputError(msg)


def _shares(
    datasets: Mapping[str, Queries], scores: Mapping[str, Mapping[str, object]], convention: Convention
) -> Shares:
    """Return what each query adds to the value of each method on each data set."""
    result: Shares = {}
    for name, queries in datasets.items():
        if not isinstance(scores[name], Mapping):
            msg = f"scores[{name!r}] is of type {type(scores[name]).__name__}.\nHint: a mapping of methods to scores."
            raise InputError(msg)
        evaluator, result[name] = Evaluator.of(queries, [convention]), {}
        for method, predicted in scores[name].items():
            if not isinstance(method, str):
                msg = f"scores[{name!r}] has a method named {method!r:.80}; allowed are texts."
                raise InputError(f"{msg}\nHint: {str(method)!r:.80}.")
            try:
                result[name][method] = evaluator.measure(predicted).shares[convention]
            except RankAdaptersError as error:
                raise error.about(f"method {method!r} on {name!r}") from None
    return result


def _pairs(shares: Shares, methods: list[str]) -> list[tuple[str, str, tuple[str, ...]]]:
    pairs = []
    for first, second in combinations(methods, 2):
        shared = tuple(name for name, by_method in shares.items() if first in by_method and second in by_method)
        if shared:
            pairs.append((first, second, shared))
    if not pairs:
        msg = "no two methods have scores on one data set.\nHint: two methods at least, which share a data set."
        raise InputError(msg)
    return pairs


def _compare(shares: Shares, first: str, second: str, names: tuple[str, ...], **options: Any) -> StratifiedComparison:
    by_dataset = [[shares[name][method] / len(names) for name in names] for method in (first, second)]
    first_shares, second_shares = (np.concatenate(parts) for parts in by_dataset)
    strata = tuple(shares[name][first].size for name in names)
    [test] = paired_tests([(first_shares, second_shares)], strata=strata, **options)
    difference = float(sum(a.sum() - b.sum() for a, b in zip(*by_dataset, strict=True)))
    return StratifiedComparison(first, second, names, difference, test.low, test.high, test.p_value, test.p_value)
