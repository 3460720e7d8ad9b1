"""Log metrics and convention signatures to a run of MLflow or Weights & Biases."""

from __future__ import annotations

import math
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from rankadapters.callbacks.arguments import display_names
from rankadapters.callbacks.history import Evaluation
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.docstrings import describes
from rankadapters.core.errors import InputError, MissingToolkitError, brief
from rankadapters.evaluation.score import Score
from rankadapters.presets.texts import Conventions, as_convention

BATCH, TAGS = 1000, 100  # maximum numbers of metrics and of tags in one call of MLflow
SPELLED = {"@": "_at_", "+": "--", "=": "-"}  # MLflow's autologging also uses _at_
STEP = "iteration"  # the x axis in Weights & Biases
TAG = "convention."  # prefix of MLflow's tags
OTHER_NAMES = "log_...({'mine': score, 'yours': score}) adds its keys to the names; rename sets, or use two runs"


class _Logged(NamedTuple):
    """A value to log."""

    parts: tuple[str, ...]  # keys of mappings around the value, then the set of a history; they precede the name
    name: str
    convention: Convention
    value: float
    step: int | None  # None for a Score


def mlflow_name(convention: Convention | str) -> str:
    """Return a convention's name in characters that MLflow allows, which `names` gives to metrics.

    MLflow's autologging replaces `@` by `_at_` itself. But it refuses names with `+` or `=`, and then logs no metric of
    that training at all.

    Parameters
    ----------
    convention : Convention or str
        The convention.

    Returns
    -------
    str
        A name with only letters, digits and `_-./`.

    Examples
    --------
    >>> mlflow_name("letor4@10+empty=1")
    'ndcg_at_10/letor4--empty-1'
    """
    return _for_mlflow(as_convention(convention).name)


def names(convention: Convention | str | Conventions) -> dict[str, Convention]:
    """Return conventions by the names that `mlflow_name` gives to them, for metrics whose values autologging stores.

    Parameters
    ----------
    convention : Convention or str, or sequence of these, or mapping of str to these
        What a metric is to report.

    Returns
    -------
    dict of str to Convention
        For `eval_metric`, and for `ra.History.of(log, names)`.

    Examples
    --------
    >>> list(names(["letor4@10+empty=1", "yahoo@5"]))
    ['ndcg_at_10/letor4--empty-1', 'ndcg_at_5/yahoo']
    """
    return {_for_mlflow(name): of_name for of_name, name in display_names(convention).items()}


def wandb_name(convention: Convention | str) -> str:
    """Return a convention's name as Weights & Biases can sort and filter it: letters, digits and underscores.

    Examples
    --------
    >>> wandb_name("letor4@10+empty=1")
    'ndcg_10_letor4_empty_1'
    """
    return _for_wandb(as_convention(convention).name)


def log_mlflow(what: object, *, run_id: str | None = None) -> None:
    """Log every value as a metric of an MLflow run, in full precision, and each convention's signature as a tag.

    Metrics of a history are named `<set>-<name>`, as in MLflow's autologging; their step is the iteration. Metrics of
    scores are named `<name>`, and `<model>-<name>` or `<segment>-<name>` if they are in a mapping by model or segment.
    The tag is `convention.<name>`. All names are spelled as by `mlflow_name`. Two values never share a name: what the
    run already has, as from autologging, is not logged again, and a different value of the same name is an error.

    Parameters
    ----------
    what : History, Score, or mapping or iterable of these
        `History.of(log)` of a training's log, or the result of `ra.evaluate`. Keys of a mapping other than conventions
        precede the names.
    run_id : str, optional
        The run's id; by default the active run, or a new one if there is none.

    Raises
    ------
    InputError
        There is nothing to log, two values would have the same name, or the run has the name of a value or of a
        convention for a different one. Nothing is logged then.
    MissingToolkitError
        MLflow is not installed.
    """
    values = _values_of(what)
    _to_mlflow(run_id, values, *_named(values, _for_mlflow))


@describes(log_mlflow)
def tag_mlflow(convention: Convention | str | Conventions, *, run_id: str | None = None) -> None:
    """Log only the signatures, as the tags of `log_mlflow`: for a run whose values autologging logs.

    Parameters
    ----------
    convention : Convention or str, or sequence of these, or mapping of str to these
        What `eval_metric` reports, with the same names.
    run_id
        As in `log_mlflow`.

    Raises
    ------
    InputError
        The run has the name of a convention for a different one. Nothing is logged then.
    ConventionError
        There is no convention, or two have one name.
    MissingToolkitError
        MLflow is not installed.
    """
    signatures: dict[str, str] = {}
    for tagged, name in display_names(convention).items():
        _add_signature(signatures, _for_mlflow(name), tagged)
    _to_mlflow(run_id, [], [], signatures)


@describes(log_mlflow)
def log_wandb(what: object, *, run: Any = None) -> None:
    """Log every value by iteration to a Weights & Biases run, in full precision, and the signatures to its config.

    Values are named as by `log_mlflow`, but with `_` for `-`, and spelled as by `wandb_name`. `iteration` is the x
    axis, so the steps of other logged values do not change. `run.config["conventions"]` has each name's signature. A
    history is refused if the run has values under its names, because Weights & Biases does not tell them by iteration.
    Scores go to the run's summary.

    Parameters
    ----------
    what
        As in `log_mlflow`.
    run : wandb.Run, optional
        The run; by default that of `wandb.init`.

    Raises
    ------
    InputError
        There is no run, or nothing to log, two values would have the same name, or the run has the name of a value or
        of a convention for a different one. Nothing is logged then.
    MissingToolkitError
        wandb is not installed.
    """
    values = _values_of(what)
    keys, signatures = _named(values, _for_wandb)
    target = _active_run() if run is None else run
    logged = dict(target.config.get("conventions") or {})
    _refuse_other_meanings(signatures, logged)
    latest = dict(target.summary)
    for key, value in zip(keys, values, strict=True):
        if key in latest and value.step is not None:
            msg = f"the run already has {key!r}, and its rounds would be logged a second time."
            raise InputError(msg, hint=OTHER_NAMES)
        if key in latest:
            _refuse_other_value(key, value, latest[key])
    target.config.update({"conventions": logged | signatures}, allow_val_change=True)
    summary: dict[str, float] = {}
    rounds: dict[int, dict[str, float]] = {}
    for key, value in zip(keys, values, strict=True):
        (summary if value.step is None else rounds.setdefault(value.step, {}))[key] = value.value
    target.summary.update(summary)
    for key in dict.fromkeys(key for row in rounds.values() for key in row):
        target.define_metric(key, step_metric=STEP)
    for step, row in rounds.items():
        target.log({**row, STEP: step})


def _to_mlflow(run_id: str | None, values: list[_Logged], keys: list[str], signatures: Mapping[str, str]) -> None:
    """Log values as metrics and signatures as tags to the run of an id, the active run, or a new one.

    Values that the run has already are left out; if it has other values or conventions by these names, nothing is
    logged.
    """
    try:
        import mlflow
        from mlflow.entities import Metric, RunTag
    except ImportError:
        raise MissingToolkitError.of("mlflow", "trackers") from None
    client, active, now = mlflow.MlflowClient(), mlflow.active_run(), int(time.time() * 1000)
    run_id = run_id or (active and active.info.run_id)
    tags, latest = {}, {}
    if run_id:
        data = client.get_run(run_id).data
        tags, latest = data.tags, data.metrics
    _refuse_other_meanings(signatures, {name: tags[TAG + name] for name in signatures if TAG + name in tags})
    logged: dict[tuple[str, int | None], float] = {(key, None): value for key, value in latest.items()}
    for key in {key for key, value in zip(keys, values, strict=True) if key in latest and value.step is not None}:
        logged |= {(key, metric.step): metric.value for metric in client.get_metric_history(run_id, key)}
    metrics = []
    for key, value in zip(keys, values, strict=True):
        if (key, value.step) in logged:
            _refuse_other_value(key, value, logged[key, value.step])
        else:
            metrics.append(Metric(key, value.value, now, value.step or 0))
    new_tags = [RunTag(TAG + name, signature) for name, signature in signatures.items()]
    run_id = run_id or mlflow.start_run().info.run_id
    for first in range(0, len(metrics), BATCH):
        client.log_batch(run_id, metrics=metrics[first : first + BATCH])
    for first in range(0, len(new_tags), TAGS):
        client.log_batch(run_id, tags=new_tags[first : first + TAGS])


def _active_run() -> Any:
    try:
        import wandb
    except ImportError:
        raise MissingToolkitError.of("wandb", "trackers") from None
    if wandb.run is None:
        msg = "Weights & Biases has no run."
        raise InputError(msg, hint="wandb.init(project=...) first, or log_wandb(..., run=run)")
    return wandb.run


def _values_of(what: object) -> list[_Logged]:
    """Return the values to log from a history, a score, or a collection of these."""
    values = list(_logged(what, ()))
    if not values:
        msg = "there is nothing to log."
        raise InputError(msg, hint="ra.History.of(log) after a training, or the result of ra.evaluate")
    return values


def _logged(what: object, parts: tuple[str, ...]) -> Iterator[_Logged]:
    """Yield the values of a history, a score or a collection; `parts` are the keys of the mappings around it."""
    if isinstance(what, Evaluation):
        yield _Logged((*parts, what.dataset), what.name, what.convention, what.value, what.iteration)
    elif isinstance(what, Score):
        yield _Logged(parts, what.convention.name, what.convention, what.value, None)
    elif isinstance(what, Mapping):
        for key, entry in what.items():
            yield from _logged(entry, parts if isinstance(key, Convention) else (*parts, str(key)))
    elif isinstance(what, Iterable) and not isinstance(what, str):
        for entry in what:
            yield from _logged(entry, parts)
    else:
        msg = f"{brief(what)} is neither a history nor a score."
        raise InputError(msg, hint="ra.History.of(log) of a training's log, or the result of ra.evaluate")


def _named(values: list[_Logged], spell: Callable[[str], str]) -> tuple[list[str], dict[str, str]]:
    """Return the name of each value, and the signature of each convention by name; refuse values that share a name."""
    keys = [spell("-".join(filter(None, (*value.parts, value.name)))) for value in values]
    series: dict[str, tuple[object, ...]] = {}
    steps: set[tuple[str, int | None]] = set()
    signatures: dict[str, str] = {}
    for key, value in zip(keys, values, strict=True):
        of_series = value.parts, value.name, value.convention, value.step is None  # values of one series share a name
        if series.setdefault(key, of_series) != of_series or (key, value.step) in steps:
            msg = f"two values would be logged as {key!r}, and one would replace the other."
            raise InputError(msg, hint=OTHER_NAMES)
        steps.add((key, value.step))
        _add_signature(signatures, spell(value.name), value.convention)
    return keys, signatures


def _add_signature(signatures: dict[str, str], name: str, convention: Convention) -> None:
    _refuse_other_meanings({name: str(convention)}, signatures)
    signatures[name] = str(convention)


def _refuse_other_value(key: str, value: _Logged, old: object) -> None:
    """Refuse a value that a run has under the same name, and at the same step, as a different number."""
    is_nan = math.isnan(value.value) and str(old).lower() == "nan"  # Weights & Biases stores it as a text
    if old != value.value and not is_nan:
        step = "" if value.step is None else f" at step {value.step}"
        msg = f"the run already has {key!r}{step} as {old!r}, and now it would be {value.value!r}."
        raise InputError(msg, hint=OTHER_NAMES)


def _refuse_other_meanings(signatures: Mapping[str, str], logged: Mapping[str, str]) -> None:
    """Refuse a name that has been logged for a different convention."""
    for name, signature in signatures.items():
        if logged.get(name, signature) != signature:
            msg = f"two conventions would be logged as {name!r}: {logged[name]} and {signature}."
            raise InputError(msg, hint="use two runs, or give the metric other names: eval_metric({name: convention})")


def _for_mlflow(name: str) -> str:
    replaced = "".join(SPELLED.get(letter, letter) for letter in name)
    return re.sub(r"[^\w./ -]", "_", replaced, flags=re.ASCII)


def _for_wandb(name: str) -> str:
    spelled = re.sub(r"[^A-Za-z0-9]+", "_", name)
    return spelled if spelled[:1].isalpha() else f"set_{spelled}"
