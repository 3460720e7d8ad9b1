"""Metrics and signatures in a run of MLflow."""

from __future__ import annotations

import re
import time
from typing import Any

from rankadapters.core.declaration.convention import Convention
from rankadapters.core.errors import MissingToolkitError
from rankadapters.core.presets.texts import as_convention
from rankadapters.trackers.logged import Logged, values_of

BATCH = 1000  # metrics that MLflow takes at once
TAGS = 100  # tags that it takes at once
SPELLED = {"@": "_at_", "+": "--", "=": "-"}  # the first is how MLflow's autologging spells it too


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
    return _spelled(as_convention(convention).name)


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
    values = values_of(what)
    try:
        import mlflow
        from mlflow.entities import Metric, RunTag
    except ImportError:
        raise MissingToolkitError.of("mlflow", "trackers") from None
    run = run_id or (mlflow.active_run() or mlflow.start_run()).info.run_id
    client, now = mlflow.MlflowClient(), int(time.time() * 1000)
    metrics = [Metric(_key(value), value.value, now, value.step) for value in values]
    tags = {f"convention.{_spelled(value.name)}": str(value.convention) for value in values}
    for batch in _batches(metrics, BATCH):
        client.log_batch(run, metrics=batch)
    for batch in _batches([RunTag(*tag) for tag in tags.items()], TAGS):
        client.log_batch(run, tags=batch)


def _key(value: Logged) -> str:
    return _spelled(f"{value.dataset}-{value.name}" if value.dataset else value.name)


def _spelled(name: str) -> str:
    known = "".join(SPELLED.get(letter, letter) for letter in name)
    return re.sub(r"[^\w./ -]", "_", known, flags=re.ASCII)


def _batches(entries: list[Any], size: int) -> list[list[Any]]:
    return [entries[start : start + size] for start in range(0, len(entries), size)]
