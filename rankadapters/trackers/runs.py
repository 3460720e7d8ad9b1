"""Metrics and signatures in a run of MLflow or of Weights & Biases."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from rankadapters.callbacks.history import Evaluation, History
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.errors import InputError, MissingToolkitError, brief
from rankadapters.core.evaluation.score import Score
from rankadapters.core.presets.texts import as_convention

BATCH, TAGS = 1000, 100  # metrics, and tags, that MLflow takes at once
SPELLED = {"@": "_at_", "+": "--", "=": "-"}  # the first is how MLflow's autologging spells it too
STEP = "iteration"  # what the values are drawn against in Weights & Biases


class _Logged(NamedTuple):
    """One value of a series."""

    dataset: str  # empty where a score is of no set by name
    name: str
    convention: Convention
    value: float
    step: int


def mlflow_name(convention: Convention | str) -> str:
    """Spell the name of a convention as MLflow allows it, for `eval_metric(conv, names=[mlflow_name(conv)])`.

    MLflow's autologging spells `@` as `_at_` by itself. A name with `+` or `=` it refuses, and then logs no metric of
    that training at all.

    Parameters
    ----------
    convention : Convention or str
        What reports.

    Returns
    -------
    str
        Letters, digits and `_-./` only.

    Examples
    --------
    >>> mlflow_name("letor4@10+empty=1")
    'ndcg_at_10/letor4--empty-1'
    """
    return _for_mlflow(as_convention(convention).name)


def wandb_name(convention: Convention | str) -> str:
    """Spell the name of a convention as Weights & Biases can sort and filter by: letters, digits and underscores.

    Examples
    --------
    >>> wandb_name("letor4@10+empty=1")
    'ndcg_10_letor4_empty_1'
    """
    return _for_wandb(as_convention(convention).name)


def log_mlflow(what: object, *, run_id: str | None = None) -> None:
    """Log every value as a metric of a run, in full precision, and each convention's signature as a tag.

    A metric is called `<set>-<name>`, as MLflow's autologging does, a score by the name alone, both spelled as
    `mlflow_name` does; its step is the iteration. The tag is `convention.<name>`.

    Parameters
    ----------
    what : History, Score, or mapping or iterable of Score
        `metric.history` after a training, or what `ra.evaluate` returned.
    run_id : str, optional
        The active run by default; one is started where there is none.

    Raises
    ------
    InputError
        There is nothing to log, or the history is of several trainings.
    MissingToolkitError
        MLflow is not installed.
    """
    values = _values_of(what)
    try:
        import mlflow
        from mlflow.entities import Metric, RunTag
    except ImportError:
        raise MissingToolkitError.of("mlflow", "trackers") from None
    run = run_id or (mlflow.active_run() or mlflow.start_run()).info.run_id
    client, now = mlflow.MlflowClient(), int(time.time() * 1000)
    metrics = [Metric(_for_mlflow("-".join(filter(None, (v.dataset, v.name)))), v.value, now, v.step) for v in values]
    signatures = {f"convention.{_for_mlflow(v.name)}": str(v.convention) for v in values}
    tags = [RunTag(*tag) for tag in signatures.items()]
    for first in range(0, len(metrics), BATCH):
        client.log_batch(run, metrics=metrics[first : first + BATCH])
    for first in range(0, len(tags), TAGS):
        client.log_batch(run, tags=tags[first : first + TAGS])


def log_wandb(what: object, *, run: Any = None) -> None:
    """Log every value of a training, in full precision, against its iteration, and the signatures into the config.

    A metric is called `<set>_<name>`, a score by the name alone, both spelled as `wandb_name` does. `iteration` is its
    axis, so that what else the run logs keeps its steps. `run.config["conventions"]` has each name's signature.

    Parameters
    ----------
    what : History, Score, or mapping or iterable of Score
        `metric.history` after a training, whose values are logged by `iteration`; or what `ra.evaluate` returned, which
        goes to the run's summary.
    run : wandb.Run, optional
        The run of `wandb.init` by default.

    Raises
    ------
    InputError
        There is nothing to log, the history is of several trainings, or there is no run.
    MissingToolkitError
        wandb is not installed.
    """
    values = _values_of(what)
    target = _active_run() if run is None else run
    signatures = {_for_wandb(value.name): str(value.convention) for value in values}
    known = dict(target.config.get("conventions") or {})
    target.config.update({"conventions": known | signatures}, allow_val_change=True)
    target.summary.update({_for_wandb(value.name): value.value for value in values if not value.dataset})
    rounds: dict[int, dict[str, float]] = {}
    for value in values:
        if value.dataset:
            rounds.setdefault(value.step, {})[_for_wandb(f"{value.dataset}_{value.name}")] = value.value
    for key in dict.fromkeys(key for row in rounds.values() for key in row):
        target.define_metric(key, step_metric=STEP)
    for step, row in rounds.items():
        target.log({**row, STEP: step})


def _active_run() -> Any:
    try:
        import wandb
    except ImportError:
        raise MissingToolkitError.of("wandb", "trackers") from None
    if wandb.run is None:
        msg = "Weights & Biases has no run.\nHint: wandb.init(project=...) first, or log_wandb(..., run=run)."
        raise InputError(msg)
    return wandb.run


def _values_of(what: object) -> list[_Logged]:
    """Read a history of one training, a score, or several scores."""
    if isinstance(what, History) and len(what.runs) > 1:
        msg = f"the history is of {len(what.runs)} trainings, whose rounds would be the same steps."
        raise InputError(f"{msg}\nHint: history.only(run=-1) for the last one.")
    several = isinstance(what, Iterable) and not isinstance(what, str | Score | Evaluation)
    entries: Any = what.values() if isinstance(what, Mapping) else what if several else [what]
    values = [_logged(entry) for entry in entries]
    if not values:
        msg = "there is nothing to log.\nHint: a history after its training, or what ra.evaluate returned."
        raise InputError(msg)
    return values


def _logged(entry: object) -> _Logged:
    if isinstance(entry, Evaluation):
        return _Logged(entry.dataset, entry.name, entry.convention, entry.value, entry.iteration)
    if isinstance(entry, Score):
        return _Logged("", entry.convention.name, entry.convention, entry.value, 0)
    msg = f"{brief(entry)} is neither a history nor a score.\nHint: metric.history, or what ra.evaluate returned."
    raise InputError(msg)


def _for_mlflow(name: str) -> str:
    known = "".join(SPELLED.get(letter, letter) for letter in name)
    return re.sub(r"[^\w./ -]", "_", known, flags=re.ASCII)


def _for_wandb(name: str) -> str:
    spelled = re.sub(r"[^A-Za-z0-9]+", "_", name)
    return spelled if spelled[:1].isalpha() else f"set_{spelled}"
