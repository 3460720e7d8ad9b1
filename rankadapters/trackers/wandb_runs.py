"""Metrics and signatures in a run of Weights & Biases."""

from __future__ import annotations

import re
from typing import Any

from rankadapters.core.declaration.convention import Convention
from rankadapters.core.errors import InputError, MissingToolkitError
from rankadapters.core.presets.texts import as_convention
from rankadapters.trackers.logged import Logged, values_of

STEP = "iteration"


def wandb_name(convention: Convention | str) -> str:
    """Spell the name of a convention as Weights & Biases can sort and filter by: letters, digits and underscores.

    Examples
    --------
    >>> wandb_name("letor4@10+empty=1")
    'ndcg_10_letor4_empty_1'
    """
    return _spelled(as_convention(convention).name)


def log_wandb(what: object, *, run: Any = None) -> None:
    """Log every value of a training, in full precision, against its iteration, and the signatures into the config.

    A metric is called `<set>_<name>`, a score by the name alone, both spelled as `wandb_name` does. `iteration` is its
    axis, so that what else the run logs keeps its steps. `run.config["conventions"]` has each name's signature.

    Parameters
    ----------
    what : History, Score, or mapping or iterable of Score
        `metric.history` after a training, whose values stand against `iteration`; or what `ra.evaluate`
        returned, which go to the run's summary.
    run : wandb.Run, optional
        The run of `wandb.init` by default.

    Raises
    ------
    InputError
        There is nothing to log, the history is of several trainings, or there is no run.
    MissingToolkitError
        wandb is not installed.
    """
    values = values_of(what)
    target = _active() if run is None else run
    target.config.update({"conventions": {**_known(target), **{_spelled(v.name): str(v.convention) for v in values}}},
                         allow_val_change=True)  # fmt: skip
    target.summary.update({_key(value): value.value for value in values if not value.dataset})
    rounds: dict[int, dict[str, float]] = {}
    for value in values:
        if value.dataset:
            rounds.setdefault(value.step, {})[_key(value)] = value.value
    for key in dict.fromkeys(key for row in rounds.values() for key in row):
        target.define_metric(key, step_metric=STEP)
    for step, row in rounds.items():
        target.log({**row, STEP: step})


def _active() -> Any:
    try:
        import wandb
    except ImportError:
        raise MissingToolkitError.of("wandb", "trackers") from None
    if wandb.run is None:
        raise InputError(
            "Weights & Biases has no run.\nHint: wandb.init(project=...) first, or log_wandb(..., run=run)."
        )
    return wandb.run


def _known(run: Any) -> dict[str, str]:
    return dict(run.config.get("conventions") or {})


def _key(value: Logged) -> str:
    return _spelled(f"{value.dataset}_{value.name}" if value.dataset else value.name)


def _spelled(name: str) -> str:
    spelled = re.sub(r"[^A-Za-z0-9]+", "_", name)
    return spelled if spelled[:1].isalpha() else f"set_{spelled}"
