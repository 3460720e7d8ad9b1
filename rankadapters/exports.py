"""Export scores and conventions in the formats of other programs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rankadapters.core.data.columns import Array, Floats
from rankadapters.core.declaration.guesses import list_public
from rankadapters.core.errors import InputError, MissingToolkitError, brief
from rankadapters.core.evaluation.score import COUNTS, ByConvention, Score

__all__ = ["to_model_card"]

list_public(__name__)


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
    data = {name: value for name, value in score.to_dict().items() if name in {*COUNTS, "digest"}}
    return {
        "type": convention.measure if k is None else f"{convention.measure}_at_{k}",
        "value": score.value,
        "name": convention.name,
        "args": {"convention": str(convention), **fields, **data},
    }


def as_frame(data: Any, columns: Sequence[str] | None = None) -> Any:
    """Return a pandas DataFrame of rows or columns."""
    return _pandas().DataFrame(data, columns=columns)


def query_frame(query_ids: Array, values: Mapping[Any, ByConvention[Floats]], *, one_model: bool) -> Any:
    """Return the values of `ra.per_query(..., frame=True)`, by model and convention, as a pandas DataFrame."""
    pd = _pandas()
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


def _pandas() -> Any:
    try:
        import pandas as pd
    except ImportError:
        raise MissingToolkitError.of("pandas", "frame") from None
    return pd
