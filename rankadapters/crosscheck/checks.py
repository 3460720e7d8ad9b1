"""Each installed toolkit's own number beside ours: of given scores, or of a small ranker that it trains."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from typing import Any, Unpack

from rankadapters.core.data.keywords import Columns
from rankadapters.core.data.queries import as_queries
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.declaration.number_fields import is_whole
from rankadapters.core.errors import ConventionError, InputError, MissingToolkitError, RankAdaptersError
from rankadapters.core.evaluation.panel import Panel
from rankadapters.core.presets.texts import as_convention, as_conventions
from rankadapters.crosscheck.toolkits import (
    TOOLKITS,
    Task,
    Trainer,
    measure_named,
    own_convention,
    usable,
)
from rankadapters.datasets import Grouped, RankingData
from rankadapters.parity import Held, ParityReport, ParityRow
from rankadapters.parity.data import refusing
from rankadapters.parity.ours import Ours
from rankadapters.parity.tolerances import FULL_DOUBLE, relative
from rankadapters.progress import shows


@shows("asking the toolkits")
def check(
    labels: object,
    scores: object,
    convention: Convention | str | None = None,
    *,
    measure: str | None = None,
    k: int = 10,
    toolkits: str | Iterable[str] = "installed",
    require: int = 1,
    **columns: Unpack[Columns],
) -> ParityReport:
    """Ask every installed toolkit for its own number for these scores, and compare it with ours.

    For each toolkit, one of three things is found. It can express the convention, and must agree. Or nothing in this
    data depends on the fields that it cannot express: then it must agree as well (`equal-on-this-data`). Or something
    does: then it is `not-comparable`, with these fields and the nearest convention that it can express, under which it
    must agree.

    Parameters
    ----------
    labels, scores
        As in `ra.evaluate`.
    convention : Convention or str, optional
        What every toolkit is compared under. Without it a measure is named.
    measure : str, optional
        A measure by our name or one of theirs, such as `ap` or `map`: each toolkit is asked for its own, at k, and
        compared under its own preset. One that does not compute it is a row that says so.
    k : int
        Cutoff of `measure`, where it has one.
    toolkits : 'installed' or iterable of str
        Some of `TOOLKITS`. One that is named but not installed is a row that says so.
    require : int
        How many toolkits must be compared under the declared convention for the report to be `ok`.
    qid, group_sizes, query_weight, docid
        As in `Queries`.

    Returns
    -------
    ParityReport
        The rows of every toolkit's `check_parity`. A toolkit that refuses the data is a row with its reason.

    Raises
    ------
    InputError
        The data has no value under the convention, or a toolkit or the measure is unknown.
    ConventionError
        A convention and a measure are given, or neither, or it is not a convention.

    Examples
    --------
    >>> import rankadapters as ra
    >>> scores = [0.9, 0.4, 0.1, 0.3]
    >>> report = check([2, 0, 1, 0], scores, ra.presets.yahoo(2), qid=[1, 1, 2, 2], toolkits=["lightgbm", "xgboost"])
    >>> report.ok, [row.verdict for row in report.rows]
    (True, ['equal', 'equal-on-this-data', 'equal', 'equal-on-this-data'])
    >>> report = check([1, 0, 1, 0], scores, measure="map", qid=[1, 1, 2, 2], toolkits=["lightgbm", "xgboost"])
    >>> [(row.source, row.verdict) for row in report.rows]
    [('lightgbm map@10', 'equal'), ('xgboost map@10', 'equal')]
    """
    wanted = _wanted(convention, measure, k)
    queries = as_queries(labels, **columns)
    array = queries.check_scores(scores)
    ours = None if convention is None else Ours.of(queries, array, as_convention(convention)).value
    if isinstance(toolkits, str) and toolkits != "installed":
        msg = f"toolkits={toolkits!r:.60}; allowed are 'installed' and lists of names.\nHint: toolkits=['lightgbm']."
        raise InputError(msg)
    every = toolkits == "installed"
    found = usable(TOOLKITS if every else toolkits, 1)  # what only the training of their models needs does not matter
    asked = {name: there for name, there in found.items() if there.version or not every}
    if not is_whole(require) or not 1 <= int(require) <= len(TOOLKITS):
        msg = f"require={require!r}; allowed are whole numbers from 1 to {len(TOOLKITS)}: all toolkits there are."
        raise InputError(msg)
    rows, compared = list[ParityRow](), list[str]()
    for name, (version, note) in asked.items():
        part, own = tuple[ParityRow, ...](), wanted[name]
        reason = note or f"{name} does not compute {measure}."
        try:
            if version is not None and own is not None:
                part = TOOLKITS[name].load(name).check_parity(queries, array, own).rows
        except RankAdaptersError as error:
            reason = str(error)
        rows += part or [ParityRow.not_comparable(name, version or "", own, our_value=ours, reason=reason)]
        if any(row.convention == own and row.verdict != "not-comparable" for row in part):
            compared.append(name)
    return ParityReport(tuple(rows), "" if len(compared) >= require else _unmet(compared, list(asked), require))


def _wanted(convention: Convention | str | None, measure: str | None, k: int) -> dict[str, Convention | None]:
    """Give what each toolkit is compared under."""
    if convention is not None and measure is None:
        return dict.fromkeys(TOOLKITS, as_convention(convention))
    if convention is None and measure is not None:
        return {name: own_convention(trainer, measure, k) for name, trainer in TOOLKITS.items()}
    what = "a convention and a measure were" if measure is not None else "neither a convention nor a measure was"
    msg = f"{what} given.\nHint: a convention, or measure='map' for each toolkit's own."
    raise ConventionError(msg)


def _unmet(compared: list[str], asked: list[str], require: int) -> str:
    have = ", ".join(compared) or "none"
    among = ", ".join(asked) or "no toolkit is installed"
    hint = "" if asked else '; pip install "rankadapters[all]"'
    several = "toolkit" if require == 1 else "toolkits"
    return f"{require} {several} must be compared under the declared convention, {have} could be (of: {among}){hint}"


@dataclass(frozen=True, kw_only=True, slots=True)
class ModelRow:
    """One model: what its toolkit says, and what we say.

    Attributes
    ----------
    model : str
        Class that was trained.
    toolkit, version : str
        Name of the extra that installs it, and its version; this and the values are None where it cannot be used.
    native_metric, native_convention : str or None
        What the toolkit calls its metric, and the signature of the convention that it follows.
    native_value, our_value, difference : float or None
        What it reported for the model on the test set, in full precision; ours of the same scores; theirs less ours.
    declared : dict of str to (float or None)
        Ours under each declared convention, by signature.
    note : str or None
        What a reader must know to judge the row.
    """

    model: str
    toolkit: str
    version: str | None = None
    native_metric: str | None = None
    native_value: float | None = None
    native_convention: str | None = None
    our_value: float | None = None
    difference: float | None = None
    declared: dict[str, float | None]
    note: str | None = None

    @property
    def agrees(self) -> bool:
        """Whether the difference is within 1e-9: the route taken to each toolkit gives a full double."""
        return self.difference is not None and abs(self.difference) <= relative(FULL_DOUBLE, self.our_value or 0.0)


@dataclass(frozen=True, kw_only=True, slots=True)
class CrossCheck:
    """Rows of the models that were trained and of the toolkits that could not be used.

    Attributes
    ----------
    conventions : tuple of Convention
        What was declared.
    rows : tuple of ModelRow
        One per toolkit.
    """

    conventions: tuple[Convention, ...]
    rows: tuple[ModelRow, ...]

    @property
    def parity(self) -> bool:
        """Whether something was compared and every difference is within the toolkit's precision."""
        compared = [row for row in self.rows if row.difference is not None]
        return bool(compared) and all(row.agrees for row in compared)

    def to_dict(self) -> dict[str, Any]:
        """Give plain JSON types."""
        signatures = [str(convention) for convention in self.conventions]
        return {"convention": signatures, "rows": [asdict(row) for row in self.rows], "parity": self.parity}


@shows("training")
def check_models(
    train: RankingData,
    test: RankingData,
    *,
    k: int = 10,
    measure: str = "ndcg",
    conventions: Iterable[Convention | str] = (),
    toolkits: Iterable[str] | None = None,
    seed: int = 0,
    progress: Callable[[str], object] | None = None,
) -> CrossCheck:
    """Train a small ranker with every installed toolkit and compare its own NDCG@k, or another measure, with ours.

    Parameters
    ----------
    train, test : RankingData
        With the same features.
    k : int
        Cutoff that the toolkits report at.
    measure : str
        What they report, by our name or one of theirs: `ap` or `map`, `auc`, `query-rmse`.
    conventions : iterable of Convention or str
        What to evaluate all models under; the presets of the installed toolkits at k by default.
    toolkits : iterable of str, optional
        Some of `TOOLKITS`; all by default.
    seed : int
        Seed of the models. The same seed, data and versions give the same numbers.
    progress : callable, optional
        Called with the name of each model before it is trained.

    Returns
    -------
    CrossCheck
        A row per toolkit, in the order given; one that is not installed, or does not compute the measure, has a note in
        place of values.

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
    >>> report = check_models(train, test, k=5, conventions=[ra.presets.letor4(5)], toolkits=["lightgbm"])
    >>> [row.native_metric for row in report.rows], report.parity
    (['ndcg@5'], True)
    """
    for name, part in (("train", train), ("test", test)):
        if not isinstance(part, RankingData):
            msg = f"{name} is {type(part).__name__}, not RankingData.\nHint: ra.datasets.RankingData(X, labels, qid)."
            raise InputError(msg)
    found = usable(TOOLKITS if toolkits is None else toolkits)
    own = {name: own_convention(TOOLKITS[name], measure, k) for name in found if found[name].version}
    native = {name: convention for name, convention in own.items() if convention is not None}
    if own and not native:
        msg = f"none of {', '.join(own)} computes {measure_named(measure)}.\nHint: another measure or toolkit."
        raise InputError(msg)
    if not native:
        notes = "; ".join(each.note for each in found.values())
        msg = f'no toolkit to ask: {notes}.\nHint: pip install "rankadapters[all]"'
        raise MissingToolkitError(msg)
    listed = list(conventions) if isinstance(conventions, Iterable) else conventions
    declared = tuple(dict.fromkeys(as_conventions(listed or list(native.values()))))
    if train.X.shape[1] != test.X.shape[1]:
        msg = f"train has {train.X.shape[1]} features, test {test.X.shape[1]}.\nHint: the same columns in both."
        raise InputError(msg)
    task = Task(_about("train", Grouped.of, train), _about("test", Grouped.of, test), seed)
    # Bound before anything is trained, so that a convention that the data does not fit is refused at once.
    panel = _about("test", lambda queries: Panel(queries, declared), task.test.queries)
    rows = []
    for name, (version, note) in found.items():
        trainer, why = TOOLKITS[name], note or f"{name} does not compute {measure}."
        said: dict[str, Any] = {"declared": dict.fromkeys(map(str, declared)), "note": why}
        if name in native:
            if progress is not None:
                progress(trainer.model)
            said = _asked(trainer, task, native[name], panel)
        rows.append(ModelRow(model=trainer.model, toolkit=name, version=version, **said))
    return CrossCheck(conventions=declared, rows=tuple(rows))


def _asked(trainer: Trainer, task: Task, convention: Convention, panel: Panel) -> dict[str, Any]:
    """Train, ask and evaluate: what a row says of a toolkit that is there."""
    toolkit = trainer.load(trainer.name)
    _, words = toolkit.nearest(convention)
    for part in ("train", "test"):
        _about(part, lambda grouped: toolkit.refuse(grouped.queries, words), getattr(task, part))
    with refusing(trainer.name, Exception, "fails"):
        scores, value = trainer.train(task, words)
    declared = {str(each): score.value for each, score in panel.evaluate(scores).items()}
    found = {"declared": declared, "native_metric": toolkit.names(words)[0], "native_convention": str(convention)}
    try:
        held = toolkit.hold(Held(queries=task.test.queries, scores=scores), words)
    except InputError as error:  # nothing of the data is left
        return {**found, "note": " ".join(str(error).partition("\n")[0].split())}
    value = toolkit.ask(held, words) if value is None else value
    ours, note = Ours.of(held.queries, held.scores, convention).value, "\n".join(held.notes) or None
    return {**found, "native_value": value, "our_value": ours, "difference": value - ours, "note": note}


def _about(part: str, make: Callable[[Any], Any], data: Any) -> Any:
    """Say which part of the data an error is about."""
    try:
        return make(data)
    except RankAdaptersError as error:
        raise error.about(part) from None
