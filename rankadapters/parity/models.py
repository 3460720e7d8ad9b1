"""A small ranker that each installed toolkit trains: the toolkit's own number of it beside ours."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import nullcontext
from dataclasses import asdict, dataclass
from typing import Any

from rankadapters.core.declaration.arguments import refusal, seed, whole
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.errors import InputError, MissingToolkitError, RankAdaptersError
from rankadapters.core.evaluation.panel import Panel
from rankadapters.core.evaluation.table import Table
from rankadapters.core.measures import MEASURES
from rankadapters.core.presets.texts import as_conventions, parse
from rankadapters.datasets import Grouped, RankingData
from rankadapters.parity.data import refusing
from rankadapters.parity.held import Held
from rankadapters.parity.rows import FULL_DOUBLE, OurNumber, relative
from rankadapters.parity.trainers import TOOLKITS, Task, Trainer, measure_named, own_convention, usable
from rankadapters.progress import advance, shown
from rankadapters.statistics.document import Document, as_csv

SEEDS = 2**31  # that every toolkit takes


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
class ModelsReport(Document):
    """The models that were trained, and the toolkits that could not be used.

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
    def ok(self) -> bool:
        """Whether something was compared and every difference is within the toolkit's precision."""
        compared = [row for row in self.rows if row.difference is not None]
        return bool(compared) and all(row.agrees for row in compared)

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON types."""
        signatures = [str(convention) for convention in self.conventions]
        return {"ok": self.ok, "conventions": signatures, "rows": [asdict(row) for row in self.rows]}

    def to_csv(self) -> str:
        """Write a line per toolkit, with the value under each declared convention in a column of its signature."""
        rows = [asdict(row) for row in self.rows]
        declared = [row.pop("declared") for row in rows]
        lines = [[*row.values(), *values.values()] for row, values in zip(rows, declared, strict=True)]
        return as_csv([[*rows[0], *declared[0]], *lines])

    def blocks(self) -> list[str | Table]:
        """Return the values, the signatures and the metrics that were asked for, and the outcome."""
        native = [parse(row.native_convention) for row in self.rows if row.native_convention]
        measure = MEASURES[native[0].measure].__name__ if native else "metric"
        head = ("toolkit", "its own", "ours", "difference", *(convention.name for convention in self.conventions))
        caption = f"Each toolkit's own {measure} of its model, and ours"
        signatures = [f"{convention.name}: {convention}" for convention in self.conventions]
        notes = [line for row in self.rows for line in self._notes(row)]
        differences = [abs(row.difference) for row in self.rows if row.difference is not None]
        largest = f", largest difference {max(differences):.1e}" if differences else ""
        outcome = f"parity {'holds' if self.ok else 'fails'}: {len(differences)} models compared{largest}"
        return [
            Table.of(caption, head, map(_cells, self.rows)), "\n".join(signatures), "\n".join(notes), outcome
        ]  # fmt: skip

    def _notes(self, row: ModelRow) -> list[str]:
        names = {str(convention): convention.name for convention in self.conventions}
        meaning = f", {row.native_metric} is {names.get(row.native_convention or '', row.native_convention)}"
        trained = f"{row.toolkit}: {row.model}{meaning if row.native_convention else ''}"
        return [trained, *([f"{row.toolkit}: {row.note}"] if row.note else [])]


def _cells(row: ModelRow) -> list[str]:
    values = [row.native_value, row.our_value, *row.declared.values()]
    native, ours, *declared = ["-" if value is None else f"{value:.6f}" for value in values]
    difference = "-" if row.difference is None else f"{row.difference:.0e}" if row.difference else "0"
    return [f"{row.toolkit} {row.version or ''}".rstrip(), native, ours, difference, *declared]


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
) -> ModelsReport:
    """Train a small ranker with every installed toolkit and compare its own NDCG@k, or another measure, with ours.

    Parameters
    ----------
    train, test : RankingData
        With the same features.
    convention : Convention, str or iterable of these, optional
        What to evaluate all models under; the presets of the installed toolkits at k by default.
    measure : str
        What they report, by our name or one of theirs: `ap` or `map`, `auc`, `query-rmse`.
    k : int
        Cutoff that the toolkits report at.
    toolkits : str or iterable of str, optional
        The toolkits to train; all by default.
    random_state : int, numpy Generator or RandomState
        Seed of the models. The same seed, data and versions give the same numbers.
    progress : bool or callable
        Whether to show a bar on a terminal, or what to call as `progress(done, total)` before and after each toolkit.

    Returns
    -------
    ModelsReport
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
    >>> report = crosscheck_models(train, test, k=5, convention=ra.presets.letor4(5), toolkits="lightgbm")
    >>> [row.native_metric for row in report.rows], report.ok
    (['ndcg@5'], True)
    """
    _require_same_features(train, test)
    available = usable(toolkits)
    k, drawn = whole("k", k), seed(random_state) % SEEDS
    native = _native(available, measure, k)
    listed = [convention] if isinstance(convention, Convention) else convention
    declared = tuple(dict.fromkeys(native.values() if listed is None else as_conventions(listed)))
    task = Task(_about("train", Grouped.of, train), _about("test", Grouped.of, test), drawn)
    # Bound before anything is trained, so that a convention that the data does not fit is refused at once.
    panel = _about("test", lambda queries: Panel(queries, declared), task.test.queries)
    step = progress if callable(progress) else advance
    rows = []
    with shown("training the toolkits' models", after=0) if progress is True else nullcontext():
        for done, (name, (version, note)) in enumerate(available.items()):
            step(done, len(available))
            trainer, why = TOOLKITS[name], note or f"{name} does not compute {measure}."
            missing = {"declared": dict.fromkeys(map(str, declared)), "note": why}
            values = _values(trainer, task, native[name], panel) if name in native else missing
            rows.append(ModelRow(model=trainer.model, toolkit=name, version=version, **values))
        step(len(available), len(available))
    return ModelsReport(conventions=declared, rows=tuple(rows))


def _require_same_features(train: Any, test: Any) -> None:
    for name, part in (("train", train), ("test", test)):
        if not isinstance(part, RankingData):
            raise refusal(name, part, "RankingData", "ra.datasets.RankingData(X, labels, qid)")
    if train.X.shape[1] != test.X.shape[1]:
        widths = f"train has {train.X.shape[1]} features, test {test.X.shape[1]}"
        raise InputError(f"{widths}.\nHint: the same columns in both.")


def _native(available: Any, measure: str, k: int) -> dict[str, Convention]:
    """Return the installed toolkits' own conventions of a measure."""
    installed = [name for name in available if available[name].version]
    own = {name: own_convention(TOOLKITS[name], measure, k) for name in installed}
    native = {name: convention for name, convention in own.items() if convention is not None}
    if own and not native:
        msg = f"none of {', '.join(own)} computes {measure_named(measure)}.\nHint: another measure or toolkit."
        raise InputError(msg)
    if not native:
        notes = "; ".join(there.note for there in available.values())
        msg = f'no toolkit to ask: {notes}.\nHint: pip install "rankadapters[all]"'
        raise MissingToolkitError(msg)
    return native


def _values(trainer: Trainer, task: Task, convention: Convention, panel: Panel) -> dict[str, Any]:
    """Train a toolkit's model, ask the toolkit for its value, and evaluate the same scores."""
    toolkit = trainer.load(trainer.name)
    _, words = toolkit.nearest(convention)
    for part in ("train", "test"):
        _about(part, lambda grouped: toolkit.refuse(grouped.queries, words), getattr(task, part))
    with refusing(trainer.name, Exception, "fails"):
        scores, value = trainer.train(task, words)
    declared = {str(each): score.value for each, score in panel.evaluate(scores).items()}
    row = {"declared": declared, "native_metric": toolkit.names(words)[0], "native_convention": str(convention)}
    try:
        held = toolkit.hold(Held(queries=task.test.queries, scores=scores), words)
    except InputError as error:  # nothing of the data is left
        return {**row, "note": " ".join(str(error).partition("\n")[0].split())}
    value = toolkit.ask(held, words) if value is None else value
    ours, note = OurNumber.of(held.queries, held.scores, convention).value, "\n".join(held.notes) or None
    return {**row, "native_value": value, "our_value": ours, "difference": value - ours, "note": note}


def _about(part: str, make: Callable[[Any], Any], data: Any) -> Any:
    """Say which part of the data an error is about."""
    try:
        return make(data)
    except RankAdaptersError as error:
        raise error.about(part) from None
