"""Export scores and conventions in the formats of other programs."""

from __future__ import annotations

from typing import Any

from rankadapters.core.declaration.guesses import list_public
from rankadapters.core.errors import InputError, brief
from rankadapters.evaluation.score import COUNTS, Score

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
    k = convention.get("k")
    fields = {name: value for name, value in convention.to_dict().items() if value is not None}
    data = {name: value for name, value in score.to_dict().items() if name in {*COUNTS, "digest"}}
    return {
        "type": convention.measure if k is None else f"{convention.measure}_at_{k}",
        "value": score.value,
        "name": convention.name,
        "args": {"convention": str(convention), **fields, **data},
    }
