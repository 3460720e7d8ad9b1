"""Conventions and scores as entries of formats that other programs read."""

from __future__ import annotations

from typing import Any

from rankadapters.core.declaration.convention import Convention, as_convention
from rankadapters.core.errors import InputError, brief
from rankadapters.core.evaluation.score import COUNTS, Score

__all__ = ["to_every_eval_ever", "to_model_card"]


def __dir__() -> list[str]:
    """List the public names alone, for completion."""
    return sorted(__all__)


def to_model_card(score: Score) -> dict[str, Any]:
    """Return a score as an entry of `metrics` in the model index of a Hugging Face model card.

    Parameters
    ----------
    score : Score
        What `ra.evaluate` returned.

    Returns
    -------
    dict
        `type` is the measure and the cutoff as in other cards, `ndcg_at_10`. `value` is the number and `name` the
        display name. `args` has the signature, the fields of the convention, and the counts and digest of the queries.
        A cutoff of None is left out, as the Hub's own library does.

    Raises
    ------
    InputError
        It is not a Score.

    References
    ----------
    Hugging Face, hub-docs, modelcard.md: `model-index`, `results`, `metrics`.

    Examples
    --------
    >>> import rankadapters as ra
    >>> score = ra.evaluate([1, 0], [0.2, 0.9], "letor4@2", group_sizes=[2])
    >>> entry = to_model_card(score)
    >>> entry["type"], entry["name"], ra.parse(entry["args"]["convention"]) == score.convention
    ('ndcg_at_2', 'ndcg@2/letor4', True)
    """
    if not isinstance(score, Score):
        raise InputError(f"{brief(score)} is not a Score.", hint="pass what ra.evaluate returned for one convention")
    convention = score.convention
    k = getattr(convention, "k", None)
    fields = {name: value for name, value in convention.to_dict().items() if value is not None}
    return {
        "type": convention.measure if k is None else f"{convention.measure}_at_{k}",
        "value": score.value,
        "name": convention.name,
        "args": {"convention": str(convention), **fields, **_data(score)},
    }


def to_every_eval_ever(score: Score | Convention | str) -> dict[str, Any]:
    """Return a score or a convention as the parts of an evaluation result of Every Eval Ever that it knows.

    Parameters
    ----------
    score : Score, Convention or str
        What `ra.evaluate` returned; or a convention, for its `metric_config` alone.

    Returns
    -------
    dict
        `metric_config`, whose `metric_id` is the signature, so that results join only under equal conventions, and
        whose `metric_parameters` are the fields. `min_score` and `max_score` are 0 and 1, or `"-Infinity"` and
        `"Infinity"` where the measure or the value is not limited to this interval. With a score also `score_details`:
        the value, counts and digest.

    Raises
    ------
    ConventionError
        It is neither a score nor a convention.

    References
    ----------
    Every Eval Ever 0.3.0, eval.schema.json: `evaluation_results`.

    Examples
    --------
    >>> import rankadapters as ra
    >>> config = to_every_eval_ever("letor4@10")["metric_config"]
    >>> config["metric_name"], config["metric_kind"], config["metric_parameters"]["k"], config["lower_is_better"]
    ('ndcg@10/letor4', 'ndcg', 10, False)
    >>> ra.parse(config["metric_id"]) == ra.parse("letor4@10")
    True
    """
    if not isinstance(score, Score):
        return {"metric_config": _metric_config(as_convention(score))}
    limited = 0 <= score.value <= 1
    details = {name: str(value) for name, value in _data(score).items()}
    return {
        "metric_config": _metric_config(score.convention, limited=limited),
        "score_details": {"score": score.value, "details": details},
    }


def _metric_config(convention: Convention, *, limited: bool = True) -> dict[str, Any]:
    limited = limited and convention.in_unit_interval
    return {
        "metric_id": str(convention),
        "metric_name": convention.name,
        "metric_kind": convention.measure,
        **({"metric_unit": "proportion"} if limited else {}),
        "metric_parameters": convention.to_dict(),
        "lower_is_better": not convention.higher_is_better,
        "score_type": "continuous",
        "min_score": 0.0 if limited else "-Infinity",
        "max_score": 1.0 if limited else "Infinity",
    }


def _data(score: Score) -> dict[str, Any]:
    """Return what says which queries a score is of."""
    entries = score.to_dict()
    return {name: entries[name] for name in (*COUNTS, "digest")}
