"""Export scores and conventions in the formats of other programs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rankadapters.core.data.columns import Array, Floats
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.errors import InputError, MissingToolkitError, brief
from rankadapters.core.evaluation.score import COUNTS, ByConvention, Score
from rankadapters.presets.texts import as_convention

__all__ = ["to_every_eval_ever", "to_model_card"]


def __dir__() -> list[str]:
    """Return only the public names, for completion."""
    return sorted(__all__)


def to_model_card(score: Score) -> dict[str, Any]:
    """Return a score as an entry of `metrics` in the model index of a Hugging Face model card.

    Parameters
    ----------
    score : Score
        A result of `ra.evaluate`.

    Returns
    -------
    dict
        `type` is the measure and the cutoff as in other cards, `ndcg_at_10`. `value` is the number and `name` the
        display name. `args` has the signature, the fields of the convention, and the counts and digest of the queries.
        A cutoff of None is left out, as in the Hub's own library.

    Raises
    ------
    InputError
        `score` is not a Score.

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
    """Return the parts of an Every Eval Ever evaluation result that a score or a convention determines.

    Parameters
    ----------
    score : Score, Convention or str
        A result of `ra.evaluate`; or a convention, which determines only `metric_config`.

    Returns
    -------
    dict
        `metric_config`, whose `metric_id` is the signature, so that results join only under equal conventions, and
        whose `metric_parameters` are the fields. `min_score` and `max_score` are 0 and 1, or `"-Infinity"` and
        `"Infinity"` if the measure or the value can be outside this interval. For a score also `score_details`: the
        value, counts and digest.

    Raises
    ------
    ConventionError
        `score` is neither a score nor a convention.

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
    is_limited = 0 <= score.value <= 1
    details = {name: str(value) for name, value in _data(score).items()}
    return {
        "metric_config": _metric_config(score.convention, is_limited=is_limited),
        "score_details": {"score": score.value, "details": details},
    }


def _metric_config(convention: Convention, *, is_limited: bool = True) -> dict[str, Any]:
    is_limited = is_limited and convention.in_unit_interval
    return {
        "metric_id": str(convention),
        "metric_name": convention.name,
        "metric_kind": convention.measure,
        **({"metric_unit": "proportion"} if is_limited else {}),
        "metric_parameters": convention.to_dict(),
        "lower_is_better": not convention.higher_is_better,
        "score_type": "continuous",
        "min_score": 0.0 if is_limited else "-Infinity",
        "max_score": 1.0 if is_limited else "Infinity",
    }


def _data(score: Score) -> dict[str, Any]:
    """Return the counts and the digest, which identify the queries of a score."""
    entries = score.to_dict()
    return {name: entries[name] for name in (*COUNTS, "digest")}


def query_frame(query_ids: Array, values: Mapping[Any, ByConvention[Floats]], *, one_model: bool) -> Any:
    """Return the values of `ra.per_query(..., frame=True)`, by model and convention, as a pandas DataFrame."""
    try:
        import pandas as pd
    except ImportError:
        raise MissingToolkitError.of("pandas", "frame") from None
    tables = [
        pd.DataFrame(
            {
                "qid": query_ids,
                **({} if one_model else {"model": name}),
                **{convention.name: of_queries for convention, of_queries in by_convention.items()},
            }
        )
        for name, by_convention in values.items()
    ]
    return tables[0] if one_model else pd.concat(tables, ignore_index=True)
