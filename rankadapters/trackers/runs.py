"""Log metrics and convention signatures to a run of MLflow or Weights & Biases."""

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

BATCH, TAGS = 1000, 100  # maximum numbers of metrics and of tags in one call of MLflow
SPELLED = {"@": "_at_", "+": "--", "=": "-"}  # MLflow's autologging also uses _at_
STEP = "iteration"  # the x axis in Weights & Biases


class _Logged(NamedTuple):
    """A value to log."""

    dataset: str  # empty for a Score
    name: str
    convention: Convention
    value: float
    step: int


def mlflow_name(convention: Convention | str) -> str:
    """Return a convention's name in characters that MLflow allows, for `eval_metric(conv, names=[mlflow_name(conv)])`.

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
    scores are named `<name>`. The tag is `convention.<name>`. All names are spelled as by `mlflow_name`.

    Parameters
    ----------
    what : History, Score, or mapping or iterable of Score
        `metric.history` after a training, or the result of `ra.evaluate`.
    run_id : str, optional
        The run's id; by default the active run, or a new one if there is none.

    Raises
    ------
    InputError
        There is nothing to log, or the history has more than one training.
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
    """Log every value by iteration to a Weights & Biases run, in full precision, and the signatures to its config.

    Metrics of a history are named `<set>_<name>`, scores `<name>`, both spelled as by `wandb_name`. `iteration` is the
    x axis, so the steps of other logged values do not change. `run.config["conventions"]` has each name's signature.

    Parameters
    ----------
    what : History, Score, or mapping or iterable of Score
        `metric.history` after a training, which is logged by `iteration`; or the result of `ra.evaluate`, which goes to
        the run's summary.
    run : wandb.Run, optional
        The run; by default that of `wandb.init`.

    Raises
    ------
    InputError
        There is nothing to log, the history has more than one training, or there is no run.
    MissingToolkitError
        wandb is not installed.
    """
    values = _values_of(what)
    target = _active_run() if run is None else run
    signatures = {_for_wandb(value.name): str(value.convention) for value in values}
    logged = dict(target.config.get("conventions") or {})
    target.config.update({"conventions": logged | signatures}, allow_val_change=True)
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
    """Return the values to log from the history of one training, from a score, or from a collection of scores."""
    if isinstance(what, History) and len(what.runs) > 1:
        msg = f"the history has {len(what.runs)} trainings, whose rounds would get the same steps."
        raise InputError(f"{msg}\nHint: history.only(run=-1) for the last one.")
    is_collection = isinstance(what, Iterable) and not isinstance(what, str | Score | Evaluation)
    entries: Any = what.values() if isinstance(what, Mapping) else what if is_collection else [what]
    values = [_logged(entry) for entry in entries]
    if not values:
        msg = "there is nothing to log.\nHint: a history after its training, or the result of ra.evaluate."
        raise InputError(msg)
    return values


def _logged(entry: object) -> _Logged:
    if isinstance(entry, Evaluation):
        return _Logged(entry.dataset, entry.name, entry.convention, entry.value, entry.iteration)
    if isinstance(entry, Score):
        return _Logged("", entry.convention.name, entry.convention, entry.value, 0)
    msg = f"{brief(entry)} is neither a history nor a score.\nHint: metric.history, or the result of ra.evaluate."
    raise InputError(msg)


def _for_mlflow(name: str) -> str:
    replaced = "".join(SPELLED.get(letter, letter) for letter in name)
    return re.sub(r"[^\w./ -]", "_", replaced, flags=re.ASCII)


def _for_wandb(name: str) -> str:
    spelled = re.sub(r"[^A-Za-z0-9]+", "_", name)
    return spelled if spelled[:1].isalpha() else f"set_{spelled}"
