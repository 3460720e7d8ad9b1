"""Train a small ranker with each installed toolkit and compare the toolkit's own number for it with ours."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import nullcontext
from dataclasses import replace
from typing import Any

from rankadapters.core.declaration.arguments import refusal, seed, whole
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.errors import InputError, MissingToolkitError, RankAdaptersError
from rankadapters.datasets import Grouped, RankingData
from rankadapters.evaluation.evaluator import Evaluator
from rankadapters.parity.causes import judge
from rankadapters.parity.data import refusing
from rankadapters.parity.installed import load, own_convention, usable
from rankadapters.parity.report import ParityReport, ParityRow, relative
from rankadapters.parity.toolkit import Task, ToolkitData
from rankadapters.presets.texts import as_conventions
from rankadapters.progress import advance, shown
from rankadapters.statistics.grid import measure_named
from rankadapters.statistics.rivals import OurNumber

N_SEEDS = 2**31  # every toolkit takes seeds below this


def crosscheck_models(
    train: RankingData,
    test: RankingData,
    *,
    convention: Convention | str | Iterable[Convention | str] | None = None,
    measure: str = "ndcg",
    k: int = 10,
    toolkits: str | Iterable[str] | None = None,
    random_state: Any = 0,
    progress: bool | Callable[[int, int], object] = True,
) -> ParityReport:
    """Train a small ranker with every installed toolkit; compare the toolkit's NDCG@k, or another measure, with ours.

    Each toolkit is compared under its own convention.

    Parameters
    ----------
    train, test : RankingData
        Data sets with the same features.
    convention : Convention, str or iterable of these, optional
        Conventions under which every model has our value; the presets of the installed toolkits at k by default. The
        toolkits' values are compared under these presets only: to compare them under another convention, use
        `crosscheck`.
    measure : str
        The measure that toolkits report, by our name or a toolkit's: `ap` or `map`, `auc`, `query-rmse`.
    k : int
        Cutoff of the toolkits' measure.
    toolkits : str or iterable of str, optional
        The toolkits to train; all by default.
    random_state : int, numpy Generator or RandomState
        Seed of the models. The same seed, data and versions give the same numbers.
    progress : bool or callable
        Whether to show a bar on a terminal, or a function called as `progress(done, total)` around each toolkit.

    Returns
    -------
    ParityReport
        A row per toolkit, in the order given: its own metric value of its model on the test set, our value for the same
        scores and, as `declared`, our value under each declared convention. A toolkit that is not installed, or does
        not compute the measure, has a reason instead of values. The report is `ok` if at least one model was compared
        and all of these agree; it says nothing of a declared convention that is no toolkit's own.

    Raises
    ------
    MissingToolkitError
        None of the toolkits is installed.
    InputError
        A convention has no value on the test set, or a toolkit refuses the data.

    Examples
    --------
    >>> import rankadapters as ra
    >>> train, test = ra.datasets.mq2008_like(n_train_queries=30, n_test_queries=10)
    >>> report = crosscheck_models(train, test, k=5, convention=ra.presets.letor4(5), toolkits="lightgbm")
    >>> [(row.source, row.verdict) for row in report.rows], [c.name for c in report.conventions]
    ([('lightgbm', 'equal')], ['ndcg@5/letor4'])
    """
    _require_same_features(train, test)
    available = usable(toolkits)
    k, model_seed = whole("k", k), seed(random_state) % N_SEEDS
    native = _native_conventions(available, measure, k)
    conventions = [convention] if isinstance(convention, Convention) else convention
    declared = tuple(dict.fromkeys(native.values() if conventions is None else as_conventions(conventions)))
    task = Task(_name_part("train", Grouped.of, train), _name_part("test", Grouped.of, test), model_seed)
    # Bind before training, to refuse at once a convention that does not fit the data.
    evaluator = _name_part("test", lambda queries: Evaluator.of(queries, declared), task.test.queries)
    step = progress if callable(progress) else advance
    rows = []
    with shown("training the toolkits' models", after=0) if progress is True else nullcontext():
        for n_done, (name, (version, note)) in enumerate(available.items()):
            step(n_done, len(available))
            if name in native:
                rows.append(_row(name, native[name], task, evaluator))
                continue
            reason, no_values = note or f"{name} does not compute {measure}.", dict.fromkeys(map(str, declared))
            source = name, version or "", None
            rows.append(ParityRow.not_comparable(*source, our_value=None, reason=reason, declared=no_values))
        step(len(available), len(available))
    return ParityReport(tuple(rows), conventions=declared)


def _require_same_features(train: Any, test: Any) -> None:
    for name, part in (("train", train), ("test", test)):
        if not isinstance(part, RankingData):
            raise refusal(name, part, "RankingData", "ra.datasets.RankingData(X, labels, qid)")
    if train.X.shape[1] != test.X.shape[1]:
        widths = f"train has {train.X.shape[1]} features, test {test.X.shape[1]}."
        raise InputError(widths, hint="the same columns in both")


def _native_conventions(available: Any, measure: str, k: int) -> dict[str, Convention]:
    installed = [name for name in available if available[name].version]
    conventions = {name: own_convention(name, measure, k) for name in installed}
    native = {name: convention for name, convention in conventions.items() if convention is not None}
    if conventions and not native:
        missing = f"none of {', '.join(conventions)} computes {measure_named(measure).measure}."
        raise InputError(missing, hint="another measure or toolkit")
    if not native:
        notes = "; ".join(availability.note for availability in available.values())
        raise MissingToolkitError(f'no toolkit to ask: {notes}.\nHint: pip install "rankadapters[all]"')
    return native


def _row(name: str, convention: Convention, task: Task, evaluator: Evaluator) -> ParityRow:
    """Train a toolkit's model; compare the toolkit's metric value with our value for the same scores."""
    toolkit = load(name)
    _, words = toolkit.nearest(convention)
    for part in ("train", "test"):
        _name_part(part, lambda grouped: toolkit.refuse(grouped.queries, words), getattr(task, part))
    with refusing(name, Exception, "fails"):
        scores, value = toolkit.train(task, words)
    declared = {str(other): score.value for other, score in evaluator.evaluate(scores).items()}
    source, metric = (name, toolkit.version), f"Its own metric is {toolkit.names(words)[0]}."
    try:
        data = toolkit.prepare(ToolkitData(queries=task.test.queries, scores=scores), words)
    except InputError as error:  # no data is left after preparation
        reason = f"{metric}\n{str(error).splitlines()[0]}"
        return ParityRow.not_comparable(*source, convention, our_value=None, reason=reason, declared=declared)
    our_number = OurNumber.of(data.queries, data.scores, convention)
    value = toolkit.ask(data, words) if value is None else value
    tolerance = relative(toolkit.precision(convention), our_number.value)
    row = judge(our_number, value, *source, notes=(metric, *data.notes), tolerance=tolerance)
    return replace(row, declared=declared)


def _name_part(part: str, action: Callable[[Any], Any], data: Any) -> Any:
    """Run the action on the train or test data; an error says which of them is wrong."""
    try:
        return action(data)
    except RankAdaptersError as error:
        raise error.about(part) from None
