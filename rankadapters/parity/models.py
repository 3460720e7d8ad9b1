"""Train a small ranker with each installed toolkit and compare the toolkit's own number for it with ours."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import nullcontext
from dataclasses import asdict, dataclass
from typing import Any

from rankadapters.core.declaration.arguments import refusal, seed, whole
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.errors import InputError, MissingToolkitError, RankAdaptersError
from rankadapters.core.evaluation.evaluator import Evaluator
from rankadapters.core.evaluation.table import Table
from rankadapters.core.measures import MEASURES
from rankadapters.datasets import Grouped, RankingData
from rankadapters.parity.data import refusing
from rankadapters.parity.rows import FULL_DOUBLE, relative
from rankadapters.parity.toolkit_data import ToolkitData
from rankadapters.parity.trainers import TOOLKITS, Task, Trainer, measure_named, own_convention, usable
from rankadapters.presets.texts import as_conventions, parse
from rankadapters.progress import advance, shown
from rankadapters.statistics.document import Document, as_csv
from rankadapters.statistics.mistakes import OurNumber

N_SEEDS = 2**31  # every toolkit takes seeds below this


@dataclass(frozen=True, kw_only=True, slots=True)
class ModelRow:
    """The values of one model: the one that its toolkit computes, and ours.

    Attributes
    ----------
    model : str
        Class that was trained.
    toolkit, version : str
        Name of the extra that installs the toolkit, and its version. The version and the values are None if the toolkit
        cannot be used.
    native_metric, native_convention : str or None
        The toolkit's name for its metric, and the signature of the convention that the metric follows.
    native_value, our_value, difference : float or None
        The toolkit's value on the test set, in full precision; our value for the same scores; the toolkit's minus ours.
    declared : dict of str to (float or None)
        Our value under each declared convention, by signature.
    note : str or None
        Explanation of the row.
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
        """Whether the difference is at most 1e-9, the tolerance for two computations in float64."""
        return self.difference is not None and abs(self.difference) <= relative(FULL_DOUBLE, self.our_value or 0.0)


@dataclass(frozen=True, kw_only=True, slots=True)
class ModelsReport(Document):
    """The models that were trained, and the toolkits that could not be used.

    Attributes
    ----------
    conventions : tuple of Convention
        The declared conventions, under which every model has our value.
    rows : tuple of ModelRow
        One per toolkit.
    """

    conventions: tuple[Convention, ...]
    rows: tuple[ModelRow, ...]

    @property
    def ok(self) -> bool:
        """Whether at least one model was compared, each under its toolkit's own convention, and all of these agree.

        It says nothing of a declared convention that is no toolkit's own: `crosscheck` compares under that one.
        """
        compared = [row for row in self.rows if row.difference is not None]
        return bool(compared) and all(row.agrees for row in compared)

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON types."""
        signatures = [str(convention) for convention in self.conventions]
        return {"ok": self.ok, "conventions": signatures, "rows": [asdict(row) for row in self.rows]}

    def to_csv(self) -> str:
        """Return CSV text: a line per toolkit, and a column per declared convention, headed by the signature."""
        rows = [asdict(row) for row in self.rows]
        declared = [row.pop("declared") for row in rows]
        lines = [[*row.values(), *values.values()] for row, values in zip(rows, declared, strict=True)]
        return as_csv([[*rows[0], *declared[0]], *lines])

    def blocks(self) -> list[str | Table]:
        """Return the table of values, the signatures, the toolkits' metrics and the outcome."""
        native = [parse(row.native_convention) for row in self.rows if row.native_convention]
        measure = MEASURES[native[0].measure].__name__ if native else "metric"
        header = ("toolkit", "its own", "ours", "difference", *(convention.name for convention in self.conventions))
        caption = f"Each toolkit's own {measure} of its model, and ours"
        signatures = [f"{convention.name}: {convention}" for convention in self.conventions]
        notes = [line for row in self.rows for line in self._notes(row)]
        differences = [abs(row.difference) for row in self.rows if row.difference is not None]
        largest = f", largest difference {max(differences):.1e}" if differences else ""
        native_names = {row.native_convention for row in self.rows if row.difference is not None}
        only_ours = [convention.name for convention in self.conventions if str(convention) not in native_names]
        alone = f"These columns are our values alone, as no toolkit was compared under them: {', '.join(only_ours)}."
        outcome = f"parity {'holds' if self.ok else 'fails'}: {len(differences)} models compared{largest}"
        return [
            Table.of(caption, header, map(_cells, self.rows)), "\n".join(signatures), "\n".join(notes),
            *([alone] if only_ours else []), outcome,
        ]  # fmt: skip

    def _notes(self, row: ModelRow) -> list[str]:
        names = {str(convention): convention.name for convention in self.conventions}
        meaning = f", {row.native_metric} is {names.get(row.native_convention or '', row.native_convention)}"
        trained = f"{row.toolkit}: {row.model}{meaning if row.native_convention else ''}"
        return [trained, *([f"{row.toolkit}: {row.note}"] if row.note else [])]


def _cells(row: ModelRow) -> list[str]:
    values = [row.native_value, row.our_value, *row.declared.values()]
    native, our_text, *declared = ["-" if value is None else f"{value:.6f}" for value in values]
    difference = "-" if row.difference is None else f"{row.difference:.0e}" if row.difference else "0"
    return [f"{row.toolkit} {row.version or ''}".rstrip(), native, our_text, difference, *declared]


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
    ModelsReport
        A row per toolkit, in the order given. A toolkit that is not installed, or does not compute the measure, has a
        note instead of values.

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
            trainer, reason = TOOLKITS[name], note or f"{name} does not compute {measure}."
            missing = {"declared": dict.fromkeys(map(str, declared)), "note": reason}
            values = _values(trainer, task, native[name], evaluator) if name in native else missing
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


def _native_conventions(available: Any, measure: str, k: int) -> dict[str, Convention]:
    installed = [name for name in available if available[name].version]
    conventions = {name: own_convention(TOOLKITS[name], measure, k) for name in installed}
    native = {name: convention for name, convention in conventions.items() if convention is not None}
    if conventions and not native:
        msg = f"none of {', '.join(conventions)} computes {measure_named(measure)}.\nHint: another measure or toolkit."
        raise InputError(msg)
    if not native:
        notes = "; ".join(availability.note for availability in available.values())
        msg = f'no toolkit to ask: {notes}.\nHint: pip install "rankadapters[all]"'
        raise MissingToolkitError(msg)
    return native


def _values(trainer: Trainer, task: Task, convention: Convention, evaluator: Evaluator) -> dict[str, Any]:
    """Train a toolkit's model; return the toolkit's metric value, and our value for the same scores."""
    toolkit = trainer.load(trainer.name)
    _, words = toolkit.nearest(convention)
    for part in ("train", "test"):
        _name_part(part, lambda grouped: toolkit.refuse(grouped.queries, words), getattr(task, part))
    with refusing(trainer.name, Exception, "fails"):
        scores, value = trainer.train(task, words)
    declared = {
        str(declared_convention): score.value for declared_convention, score in evaluator.evaluate(scores).items()
    }
    row = {"declared": declared, "native_metric": toolkit.names(words)[0], "native_convention": str(convention)}
    try:
        data = toolkit.prepare(ToolkitData(queries=task.test.queries, scores=scores), words)
    except InputError as error:  # no data is left after preparation
        return {**row, "note": " ".join(str(error).partition("\n")[0].split())}
    value = toolkit.ask(data, words) if value is None else value
    our_value, note = OurNumber.of(data.queries, data.scores, convention).value, "\n".join(data.notes) or None
    return {**row, "native_value": value, "our_value": our_value, "difference": value - our_value, "note": note}


def _name_part(part: str, action: Callable[[Any], Any], data: Any) -> Any:
    """Run the action on the train or test data; an error says which of them is wrong."""
    try:
        return action(data)
    except RankAdaptersError as error:
        raise error.about(part) from None
